import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { readinessLog, readyBecomes, readyMetric } from '../support/readiness-figures.ts'
import { builtCode, sourceCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { storeWith } from '../support/store-module.ts'

/** Starts a service whose store has the given members. */
const start = (t: Test, members: string, environment = {}, code = builtCode) =>
  startService(t, { STORE_URL: storeWith(t, members, 'memory:', code), ...environment }, code)

t.test('the readiness metric follows the store without a request to /readyz', async (t) => {
  const members = "ready: async () => { if (existsSync(flag)) throw new Error('no disk') },"
  const service = await start(t, members, {}, sourceCode)
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
