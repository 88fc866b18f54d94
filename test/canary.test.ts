import { join } from 'node:path'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t, { type Test } from 'tap'
import { startPostgres } from '../scripts/postgres/temporary-postgres.ts'
import { spawnService, startService } from './support/service-process.ts'

/** A text in every token, body, path and password of these tests. It must never appear in any output. */
const canary = 'c4n4ry0Xq7vTz2LmPw9R'
const token = `token-${canary}-abcdefghij`
const authorization = `Bearer ${token}`

async function start(t: Test, environment: Record<string, string>) {
  const service = await startService(t, { ACCESS_TOKENS: token, LOG_LEVEL: 'debug', ...environment })
  const send = async (body: string, headers: Record<string, string> = {}, path = '/plants') => {
    const all = { authorization, 'content-type': 'application/json', ...headers }
    return (await httpRequest(service.url + path, { method: 'POST', headers: all, body })).status
  }
  /** Sends bytes and resolves to the status of the response once the service has closed the connection. */
  const sendBytes = async (bytes: string) => {
    const answer = await (await openSocket(t, service.port, bytes)).closed()
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
  }
  /** Stops the service and asserts that nothing it has written contains the canary. */
  const assertSilent = async () => {
    const metrics = (await service.page('/metrics')).body
    const { code, stdout, stderr } = await service.stop()
    t.equal(code, 0)
    t.match(stdout, /"msg":"request"/)
    t.match(metrics, /^http_server_request_duration_seconds_count\{/m)
    t.ok(stderr.startsWith(service.banner))
    for (const [name, text] of Object.entries({ stdout, stderr, metrics }))
      t.notOk(text.includes(canary), `${name} has no token, body, path or password`)
  }
  return { send, sendBytes, assertSilent }
}

const plant = (id: number | string, name = canary) => `{"id":${id},"name":"${name}","tag":"${canary}"}`

t.test('a failed request logs neither token nor body', async (t) => {
  const directory = t.testdir({
    'store.mjs': `
      const failures = {
        2: (plant) => Object.assign(new Error('broken'), { detail: plant.name, plant }),
        3: () => Object.assign(new Error('away'), { retryAfter: 1 }),
      }
      import { anyStore } from '${import.meta.resolve('./support/any-store.js')}'
      export const open = async () => anyStore({
        create: async (plant) => {
          if (plant.id === 4n) return 'conflict'
          if (plant.id === 5n) await new Promise(() => {})
          if (plant.id in failures) throw failures[plant.id](plant)
          return 'created'
        },
      })`,
  })
  const { send, sendBytes, assertSilent } = await start(t, {
    STORE_URL: `module:${directory}/store.mjs`,
    BODY_LIMIT: '4096',
    HEADERS_TIMEOUT: '200',
    REQUEST_TIMEOUT: '200',
    // An idle connection is closed without a response after REQUEST_TIMEOUT + HANDLER_TIMEOUT. The 408 must be sent
    // before that; the service checks REQUEST_TIMEOUT every 200 ms.
    HANDLER_TIMEOUT: '1000',
    AUTH_FAILURES_PER_MINUTE: '3',
  })
  const statuses = [
    await send(plant(1)),
    await send(plant(2)),
    await send(plant(3)),
    await send(plant(4)),
    await send(plant(5)),
    await send(`{"id":1,"name":"${canary}`),
    await send(`{"id":1,"${canary}":1,"${canary}":2}`),
    await send(plant('"12"')),
    await send(`{"id":1,"name":["${canary}"]}`),
    await send(canary.repeat(500)),
    await send(plant(1), { 'content-type': `text/${canary}` }),
    await send(plant(1), { 'content-encoding': canary }),
    await send(plant(1), { cookie: canary, referer: canary, 'user-agent': canary, traceparent: canary }),
    await send(plant(1), {}, `/plants?access_token=${token}`),
    await send(plant(1), {}, `/${token}`),
    await send(plant(1), {}, `/%zz${token}`),
    await send(plant(1), { authorization: `Bearer ${canary}` }),
    await send(plant(1), { authorization: `Basic ${canary}` }),
    await send(plant(1), { authorization: `Bearer "${canary}"` }),
    await send(plant(1), { authorization: `Bearer ${canary}` }),
  ]
  t.same(statuses, [200, 500, 503, 409, 503, 400, 400, 400, 400, 413, 415, 415, 200, 200, 404, 400, 401, 401, 401, 429])
  const head = (lines: string) => `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n${lines}\r\n`
  const json = 'Content-Type: application/json\r\n'
  const answered: number[] = []
  for (const bytes of [
    `${canary}\r\n\r\n`,
    `CONNECT ${canary}:80 HTTP/1.1\r\nHost: ${canary}\r\n\r\n`,
    `GET /${canary} HTTP/9.9\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${canary} ${canary}\r\n\r\n`,
    head(`Authorization: Bearer ${canary}\r\n`),
    head(`X: ${canary.repeat(1_000)}\r\n`),
    head(`Expect: ${canary}\r\n`),
    head(`${json}Upgrade: ${canary}\r\nConnection: upgrade\r\nContent-Length: 0\r\n`),
    head(`${json}Transfer-Encoding: chunked\r\n`) + canary,
    head(`${json}Transfer-Encoding: ${canary}\r\n`),
    head(`${json}Content-Length: 100\r\n`) + canary,
    head(canary),
  ])
    answered.push(await sendBytes(bytes))
  t.same(answered, [400, 405, 400, 400, 400, 431, 417, 400, 400, 400, 408, 400])
  await assertSilent()
})

t.test('a failed database logs neither password nor row', async (t) => {
  const database = await startPostgres({ password: canary })
  t.teardown(() => database.close())
  const { send, assertSilent } = await start(t, { STORE_URL: database.url() })
  t.equal(await send(plant(1)), 200)
  await database.query(`ALTER TABLE plants ADD CHECK (id <> 2)`)
  t.equal(await send(plant(2)), 500, 'the error of PostgreSQL quotes the row')
  await database.query(`ALTER TABLE plants RENAME COLUMN tag TO gone`)
  t.equal(await send(plant(3)), 503)
  await database.stop('immediate')
  t.equal(await send(plant(4)), 503)
  await assertSilent()
})

t.test('a failed start prints no secret', async (t) => {
  const directory = t.testdir({
    'broken.json': `{"tokens":[{"name":"a","sha256":"${canary}"}]}`,
    'token.json': `["${token}"]`,
    'store.mjs': `throw new Error('broken')`,
  })
  const database = await startPostgres({ password: 'another' })
  t.teardown(() => database.close())
  const wrong = database.url().replace('another', canary)
  const cases: Record<string, string>[] = [
    { ACCESS_TOKENS: canary },
    { ACCESS_TOKENS: `${token}, ${canary}` },
    { ACCESS_TOKENS: token, STORE_URL: `postgres://me:${canary}@127.0.0.1:1/plants` },
    { ACCESS_TOKENS: token, STORE_URL: `postgres://me:${canary}@127.0.0.1:x/plants` },
    { ACCESS_TOKENS: token, STORE_URL: `postgres://127.0.0.1/plants?password=${canary}&x=1` },
    { ACCESS_TOKENS: token, STORE_URL: wrong },
    { ACCESS_TOKENS: token, PORT: 'x' },
    { ACCESS_TOKENS: '', TOKENS_FILE: join(directory, 'broken.json') },
    { ACCESS_TOKENS: '', TOKENS_FILE: join(directory, 'token.json') },
    { ACCESS_TOKENS: token, STORE_URL: `module:${directory}/store.mjs` },
  ]
  for (const environment of cases) {
    const { code, stdout, stderr } = await spawnService(environment).untilEnded()
    t.equal(code, 1)
    t.match(stderr, /^plant-store: [^\n]+\n$/)
    t.notOk((stdout + stderr).includes(canary))
  }
})
