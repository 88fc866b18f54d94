import { spawnSync } from 'node:child_process'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { readinessLog, readyBecomes, readyMetric } from '../support/readiness-figures.ts'
import { builtCode, coveredCode, type ServiceCode } from '../support/service-code.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { requireSqlite } from '../support/sqlite.ts'
import { storeWith } from '../support/store-module.ts'

/** Starts a service whose store has the given members. */
const start = (t: Test, members: string, environment = {}, code = builtCode) =>
  startService(t, { STORE_URL: storeWith(t, members, 'memory:', code), ...environment }, code)

t.test('the readiness metric follows the store without a request to /readyz', async (t) => {
  const members = "ready: async () => { if (existsSync(flag)) throw new Error('no disk') },"
  const service = await start(t, members, {}, coveredCode)
  t.equal(await readyMetric(service), '1')
  const flag = join(t.testdirName, 'flag')
  writeFileSync(flag, '')
  await readyBecomes(service, '0')
  rmSync(flag)
  await readyBecomes(service, '1')
  t.hasStrict(await service.stop(), { code: 0, signal: null })
})

t.test('a service whose first probe fails begins unready', async (t) => {
  const members = "ready: async () => { throw new Error('no disk') },"
  const service = await start(t, members)
  t.equal(await readyMetric(service), '0')
  t.hasStrict(await service.page('/readyz'), { status: 503, body: 'no disk\n' })
})

t.test('a write that fails alone does not make the service unready', async (t) => {
  const members = `
    create: async (plant) => {
      if (plant.id % 2n === 1n) throw Object.assign(new Error('a moment'), { retryAfter: 1 })
      return 'created'
    },`
  const service = await start(t, members)
  const statuses = []
  for (let id = 1; id <= 20; id++) {
    statuses.push((await service.create(JSON.stringify({ id, name: 'a' }))).status)
    t.equal((await service.page('/readyz')).body, 'ready\n')
  }
  t.same(new Set(statuses), new Set([503, 200]))
  t.same(readinessLog(service), [])
})

t.test('writes that fail for seconds make the service unready, even if probes succeed', async (t) => {
  const members = `
    create: async () => {
      if (existsSync(flag)) throw Object.assign(new Error('maintenance'), { retryAfter: 1 })
      return 'created'
    },`
  const service = await start(t, members)
  const create = async () => (await service.create('{"id":1,"name":"a"}')).status
  const flag = join(t.testdirName, 'flag')
  writeFileSync(flag, '')
  await until(async () => {
    t.equal(await create(), 503)
    return (await service.page('/readyz')).body === 'maintenance\n'
  }, 'the service is not ready')
  rmSync(flag)
  t.equal(await create(), 200)
  t.hasStrict(await service.page('/readyz'), { status: 200, body: 'ready\n' })
})

requireSqlite(t)

/** Starts a service on a SQLite file; `create` creates a new plant on each call. */
async function startSqlite(t: Test, code: ServiceCode) {
  const path = join(t.testdir({}), 'plants.db')
  const service = await startService(t, { STORE_URL: `sqlite:${path}` }, code)
  let id = 0
  const create = async () => (await service.create(JSON.stringify({ id: ++id, name: 'a' }))).status
  return { ...service, path, create }
}

const unready = 'store rejects writes; the service is not ready'
const ready = 'store accepts writes again'

/** Waits for as many log messages about readiness as expected, and compares them. */
async function tells(t: Test, service: Pick<ServiceProcess, 'output'>, messages: string[]): Promise<void> {
  await until(() => readinessLog(service).length >= messages.length, 'the log is written')
  t.same(readinessLog(service), messages)
}

t.test('a removed file is noticed without a write, and the service recovers once it is back', async (t) => {
  const service = await startSqlite(t, coveredCode)
  t.equal(await service.create(), 200)
  renameSync(service.path, `${service.path}.away`)
  await readyBecomes(service, '0')
  t.match(
    (await service.page('/readyz')).body,
    /^\/.*plants\.db was removed or replaced while it was in use; put it back/,
  )
  t.equal(await service.create(), 503)
  renameSync(`${service.path}.away`, service.path)
  await readyBecomes(service, '1')
  t.equal(await service.create(), 200)
  await tells(t, service, [unready, ready])
  t.hasStrict(await service.stop(), { code: 0, signal: null })
})

const limitable = spawnSync('prlimit', ['--version']).status === 0

t.test(
  'a disk that rejects writes makes the service unready, with and without writes',
  { skip: !limitable && 'NOT RUN: prlimit is not installed' },
  async (t) => {
    // Node ignores SIGXFSZ, the signal of this limit; tap, which runs in each process of `coveredCode`, does not.
    const service = await startSqlite(t, builtCode)
    const { pid } = service.child
    const limitFiles = (bytes: string) => {
      const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`], { encoding: 'utf8' })
      t.equal(status, 0, stderr)
    }
    t.equal(await service.create(), 200)
    limitFiles('1')
    await readyBecomes(service, '0')
    t.match(await service.page('/readyz'), { status: 503, body: /disk/ })
    t.equal(await service.create(), 503)
    limitFiles('unlimited')
    await readyBecomes(service, '1')
    t.equal(await service.create(), 200)

    limitFiles('1')
    await until(async () => (await service.create()) === 503, 'creates are rejected')
    await readyBecomes(service, '0')
    limitFiles('unlimited')
    await until(async () => (await service.create()) === 200, 'creates succeed')
    t.equal((await service.page('/readyz')).body, 'ready\n', 'a successful create makes it ready immediately')
    await tells(t, service, [unready, ready, unready, ready])
  },
)
