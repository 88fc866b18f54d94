import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import t, { type Test } from 'tap'
import { run } from '../support/process.ts'
import { token } from '../support/service.ts'

/** A service whose stdout is read, with what sends it a create. */
async function start(t: Test, environment: Record<string, string> = {}) {
  const server = run(t, 'src/server.ts', { ACCESS_TOKENS: token, ...environment })
  const [, url = ''] = await server.find('stderr', / on (\S+), store /)
  const create = async (id: number, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ id, name: `plant ${id}` }),
    })
    return answer.headers.get('x-request-id')
  }
  const end = async () => {
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    t.equal(code, 0)
    return stdout
  }
  return { create, end, url }
}

/** What is logged once the service listens. */
const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => !msg.startsWith('Server listening'))

t.test('a line of JSON for each request, whose level says how it went', async (t) => {
  const { create, end, url } = await start(t)
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await create(1, { 'x-request-id': 'mine', traceparent })
  const made = await create(1, { authorization: 'Bearer wrong' })
  await fetch(`${url}/secret-path`)
  const seen = lines(await end())
  t.match(seen, [
    {
      level: 'info',
      time: Number,
      msg: 'request',
      request_id: 'mine',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      parent_id: '00f067aa0ba902b7',
      client: 'access-token-1',
      address: '127.0.0.1',
      method: 'POST',
      operation: 'createPlant',
      status: 200,
      duration_ms: Number,
    },
    { level: 'warn', msg: 'request', request_id: made, operation: 'createPlant', status: 401, error: 40101 },
    { level: 'warn', msg: 'request', method: 'GET', status: 404, error: 40400 },
  ])
  t.same(Object.keys(seen[2] ?? {}), [
    'level',
    'time',
    'request_id',
    'address',
    'method',
    'status',
    'error',
    'duration_ms',
    'msg',
  ])
})

t.test('no line of a request is asked for, or only of those that are refused', async (t) => {
  for (const [environment, statuses] of [
    [{ ACCESS_LOG: 'off' }, []],
    [{ LOG_LEVEL: 'warn' }, [401]],
  ] as const) {
    const { create, end } = await start(t, environment)
    await create(1)
    await create(1, { authorization: 'Bearer wrong' })
    t.same(
      lines(await end()).map(({ status }) => status),
      statuses,
    )
  }
})

t.test('a failure has a line with its cause, and nothing else of what was thrown', async (t) => {
  const directory = t.testdir({
    'store.mjs': `
      const causes = {
        1: () => Object.assign(new Error('broken', { cause: new TypeError('below') }), { code: 'E1', detail: 'canary' }),
        2: () => 'no error at all',
        3: () => Object.assign(new Error('away'), { retryAfter: 1 }),
      }
      export const open = async () => ({
        create: async ({ id }) => { throw causes[id]() },
        ready: async () => {},
        close: async () => {},
      })`,
  })
  const { create, end } = await start(t, { STORE_URL: `module:${directory}/store.mjs` })
  const ids = [await create(1), await create(2), await create(3)]
  const text = await end()
  t.notMatch(text, /canary/)
  t.match(lines(text), [
    {
      level: 'error',
      msg: 'request failed',
      request_id: ids[0],
      err: { type: 'Error', code: 'E1', message: 'broken', stack: /^Error: broken\n/, cause: { type: 'TypeError' } },
    },
    { level: 'error', msg: 'request', request_id: ids[0], status: 500, error: 50000 },
    { level: 'error', msg: 'request failed', err: { cause: { type: 'string', message: 'no error at all' } } },
    { level: 'error', msg: 'request', status: 500 },
    { level: 'warn', msg: 'request refused', request_id: ids[2], err: { message: 'away' } },
    { level: 'warn', msg: 'request', request_id: ids[2], status: 503, error: 50300 },
  ])
})

t.test('people get lines for people', async (t) => {
  const { create, end } = await start(t, { LOG_FORMAT: 'pretty' })
  await create(1)
  const text = await end()
  t.match(text, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request$/m)
  t.match(text, /^ {4}client: "access-token-1"$/m)
})

const full = '/dev/full'

t.test('a log that cannot be written does not end the service', { skip: !existsSync(full) }, async (t) => {
  const environment = { ACCESS_TOKENS: token, PORT: '0', MANAGEMENT_PORT: '0', STORE_URL: 'memory:', DRAIN_TIME: '0' }
  const child = spawn(process.execPath, [...process.execArgv, 'src/server.ts'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', openSync(full, 'w'), 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let told = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    told += text
  })
  while (!told.includes('management on')) await once(child.stderr as NonNullable<typeof child.stderr>, 'data')
  const [, url] = / on (\S+), store /.exec(told) ?? []
  for (let sent = 0; sent < 3; sent++) {
    t.equal((await fetch(`${url}/plants`, { method: 'POST', signal: AbortSignal.timeout(10_000) })).status, 401)
  }
  child.kill('SIGTERM')
  t.same(await once(child, 'close'), [0, null])
  t.match(told, /^plant-store: the log cannot be written: ENOSPC/m)
  t.equal(told.match(/cannot be written/g)?.length, 1, 'it is told once')
})
