import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import { until } from 'fastify-contract-test-support/poll'
import { inSeconds, writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import { builtCode } from './support/service-code.ts'
import { startService } from './support/service-process.ts'
import { sqliteSkipReason } from './support/sqlite.ts'
import { authorization } from './support/test-app.ts'

const hour = 3_600_000
/** A timeout in milliseconds. So few writes fit into it that SQLite makes no automatic checkpoint. */
const patience = 15_000

/** Starts the service with a wall clock that `setClock` shifts by milliseconds while the service runs. */
async function startWithClock(t: Test, environment: Record<string, string> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'plants-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const WALL_CLOCK_SHIFT = join(directory, 'shift')
  writeFileSync(WALL_CLOCK_SHIFT, '0')
  const preload = pathToFileURL(resolve('test/support/shifted-clock.js')).href
  const [node = '', ...args] = builtCode.command
  const service = await startService(
    t,
    { WALL_CLOCK_SHIFT, ...environment },
    { command: [node, '--import', preload, ...args] },
  )
  let id = 1
  const create = async (credentials = authorization, name = 'a') => {
    const { status, headers } = await service.create(JSON.stringify({ id: id++, name }), { authorization: credentials })
    return { status, retryAfter: Number(headers['retry-after'] ?? 0) }
  }
  const setClock = async (milliseconds: number) => {
    writeFileSync(WALL_CLOCK_SHIFT, String(milliseconds))
    await httpRequest(service.url)
    const isSet = () => {
      const [, time] = /"time":(\d+)[^\n]*\n$/.exec(service.output.stdout) ?? []
      return Math.abs(Number(time) - Date.now() - milliseconds) < hour / 2
    }
    await until(isSet, 'the log shows the time that is set')
  }
  return { ...service, create, setClock }
}

for (const [direction, step] of Object.entries({ forward: hour, back: -hour }))
  t.test(`the wall clock is set ${direction} by an hour`, async (t) => {
    t.test('the rate limits are unaffected', async (t) => {
      const limits = { REQUESTS_PER_MINUTE: '2', AUTH_FAILURES_PER_MINUTE: '2' }
      const { create, setClock } = await startWithClock(t, limits)
      const wrong = 'Bearer wrong'
      t.equal((await create()).status, 200)
      t.equal((await create(wrong)).status, 401)
      await setClock(step)
      t.equal((await create()).status, 200, 'the second request')
      t.equal((await create(wrong)).status, 401, 'the second failure')
      for (const credentials of [authorization, wrong]) {
        const { status, retryAfter } = await create(credentials)
        t.equal(status, 429)
        t.ok(retryAfter > 0 && retryAfter <= 30, `Retry-After is ${retryAfter}`)
      }
    })

    t.test('commits reach the SQLite file', { skip: sqliteSkipReason }, async (t) => {
      const path = join(t.testdir({}), 'plants.db')
      const { create, setClock } = await startWithClock(t, { STORE_URL: `sqlite:${path}` })
      const isInFile = async (name: string) => {
        await sleep(250)
        t.equal((await create(authorization, name)).status, 200)
        return readFileSync(path).includes(name)
      }
      await until(() => isInFile('before'), 'a checkpoint before', patience)
      await setClock(step)
      await until(() => isInFile('after'), 'a checkpoint after', patience)
    })

    t.test('only the expiry of tokens is affected', async (t) => {
      const issuer = await startIssuer(t)
      const key = createKey(issuer.url)
      issuer.serve('/keys', { keys: [key.jwk] })
      const lasting = { claims: { exp: Math.floor(Date.now() / 1_000) + 86_400 } }
      const tokens = [
        { token: key.token(), expires: true },
        { token: key.token(lasting), expires: false },
        { token: 'listed-token-that-expires-0123456789', expires: true },
        { token: 'listed-token-that-lasts-0123456789', expires: false },
      ]
      const [, , first, second] = tokens.map(({ token }) => token)
      const { create, setClock } = await startWithClock(t, {
        JWT_ISSUER: issuer.url,
        JWT_AUDIENCE: audience,
        JWT_JWKS_URL: issuer.jwksUrl,
        TOKENS_FILE: writeTokenFile(t, ['first', String(first), inSeconds(600)], ['second', String(second)]),
      })
      for (const { token } of tokens) t.equal((await create(`Bearer ${token}`)).status, 200)
      await setClock(step)
      for (const { token, expires } of tokens)
        t.equal((await create(`Bearer ${token}`)).status, expires && step > 0 ? 401 : 200)
      t.equal((await create(`Bearer ${key.token(lasting)}`)).status, 200, 'a new token')
      t.same(issuer.asked, ['/keys'], 'the keys are not fetched again')
    })
  })
