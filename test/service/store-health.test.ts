import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openMemory } from '../../src/store/memory.ts'
import type { CreateOutcome } from '../../src/store/open.ts'
import { Unavailable } from '../../src/store/plant-store.ts'
import { watchStore } from '../../src/store/store-health.ts'

/** Watches a store whose probes and creates the test controls, with mock time. */
function watch(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] })
  let probes = 0
  let probe: () => Promise<void> = async () => {}
  let outcome: () => Promise<CreateOutcome> = async () => 'created'
  const told: (string | undefined)[] = []
  const ready = () => {
    probes++
    return probe()
  }
  const store = { ...openMemory(), create: () => outcome(), ready }
  const health = watchStore(store, (reason) => told.push(reason))
  t.teardown(() => {
    health.close()
    mock.timers.reset()
  })
  const failing = (message: string) => async () => Promise.reject(new Unavailable(message))
  return {
    ...health,
    told,
    /** Returns the number of probes so far. */
    probes: () => probes,
    /** Advances time by seconds, one at a time, and lets promises settle in between. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        mock.timers.tick(1_000)
        await turn()
      }
    },
    async create(times = 1) {
      const plants = Array.from({ length: times }, (_, id) => health.create({ id: BigInt(id), name: 'a' }))
      const settled = await Promise.allSettled(plants)
      await turn()
      return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))
    },
    probesFail: (message: string) => (probe = failing(message)),
    probesHang: (until: Promise<void> = new Promise(() => {})) => (probe = () => until),
    probesSucceed: () => (probe = async () => {}),
    createsFail: (error: Error) => (outcome = () => Promise.reject(error)),
    createsHang: () => (outcome = () => new Promise(() => {})),
    createsEnd: (as: CreateOutcome) => (outcome = async () => as),
  }
}

t.test('the service is not ready before the first probe has succeeded', async (t) => {
  const { reason, known, told } = watch(t)
  t.equal(reason(), 'starting')
  await known
  t.equal(reason(), undefined)
  t.same(told, [])
})

t.test('a failed first probe is reported at once', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const ready = () => Promise.reject(new Error('no disk'))
  const told: unknown[] = []
  const health = watchStore({ ...openMemory(), ready }, (why) => told.push(why))
  await health.known
  t.equal(health.reason(), 'no disk')
  t.same(told, ['no disk'])
  health.close()
})

t.test('an idle store is probed every five seconds, a busy one is not', async (t) => {
  const { known, pass, probes, create, createsEnd } = watch(t)
  await known
  await pass(4)
  t.equal(probes(), 1)
  await pass(1)
  t.equal(probes(), 2)
  for (let second = 0; second < 20; second++) {
    await create()
    await pass(1)
  }
  t.equal(probes(), 2)
  createsEnd('identical')
  for (let second = 0; second < 20; second++) {
    await create()
    await pass(1)
  }
  t.equal(probes(), 6, 'an identical create is no evidence of health')
})

t.test('two failed probes in a row make the service unready, one does not', async (t) => {
  const { known, pass, probes, probesFail, probesSucceed, reason, told } = watch(t)
  await known
  probesFail('disk full')
  await pass(5)
  t.equal(probes(), 2)
  t.equal(reason(), undefined, 'after one failure')
  probesSucceed()
  await pass(1)
  t.equal(probes(), 3, 'it is probed again after a second')
  probesFail('disk full')
  await pass(5)
  t.equal(reason(), undefined, 'after one more failure')
  await pass(1)
  t.equal(reason(), 'disk full')
  probesFail('still full')
  await pass(3)
  t.equal(reason(), 'still full')
  probesSucceed()
  await pass(1)
  t.equal(reason(), undefined)
  t.same(told, ['disk full', undefined], 'each change is reported once')
})

t.test('a write without an outcome makes the service unready when a probe hangs, too', async (t) => {
  const { known, pass, create, createsHang, createsEnd, probesHang, probesSucceed, reason, told } = watch(t)
  await known
  createsHang()
  void create()
  await pass(4)
  t.equal(reason(), undefined, 'a probe succeeds')
  probesHang()
  await pass(3)
  t.equal(reason(), 'the store did not respond within 2000 ms')
  probesSucceed()
  createsEnd('created')
  await create()
  t.equal(reason(), undefined)
  t.same(told, ['the store did not respond within 2000 ms', undefined])
})

t.test('a failed write triggers a probe, which decides', async (t) => {
  const { known, probes, create, createsFail, createsEnd, probesFail, reason, told } = watch(t)
  await known
  createsFail(new Unavailable('no space'))
  t.same(await create(64), Array(64).fill('no space'))
  t.equal(probes(), 2, 'concurrent failures count as one')
  t.equal(reason(), undefined)
  probesFail('disk full')
  await create()
  t.equal(probes(), 2, 'another failure within the same second does not count')
  createsEnd('created')
  await create()
  mock.timers.tick(1_000)
  createsFail(new Unavailable('no space'))
  await create()
  t.equal(reason(), 'disk full')
  createsEnd('conflict')
  t.same(await create(), ['conflict'])
  t.equal(reason(), 'disk full', 'a conflict is no evidence of health')
  createsEnd('created')
  await create()
  t.equal(reason(), undefined, 'a new plant is evidence of health')
  t.same(told, ['disk full', undefined])
})

t.test('a failed probe followed by a failed write makes the service unready', async (t) => {
  const { known, pass, create, createsFail, probesFail, reason } = watch(t)
  await known
  probesFail('disk full')
  await pass(5)
  createsFail(new Unavailable('no space'))
  await create()
  t.equal(reason(), 'no space')
})

t.test('a failed probe, new plants, and a failed probe leave the service ready', async (t) => {
  const { known, pass, create, probesFail, reason, told } = watch(t)
  await known
  for (let round = 0; round < 3; round++) {
    probesFail('slow disk')
    await pass(5)
    await create()
    await pass(1)
  }
  t.equal(reason(), undefined)
  t.same(told, [])
})

t.test('repeated failed writes make the service unready despite good probes', async (t) => {
  const { known, pass, create, createsFail, probes, reason, told } = watch(t)
  await known
  createsFail(new Unavailable('maintenance'))
  for (let second = 0; second < 4; second++) {
    await create()
    t.equal(reason(), undefined)
    await pass(1)
  }
  await create()
  t.equal(reason(), 'maintenance')
  const before = probes()
  await pass(9)
  t.equal(probes(), before + 9)
  t.equal(reason(), 'maintenance', 'successful probes do not count')
  await pass(1)
  t.equal(reason(), undefined, 'ten seconds without a failed write do')
  t.same(told, ['maintenance', undefined])
})

t.test('occasional failures and rejected plants do not make the service unready', async (t) => {
  const { known, pass, create, createsFail, told } = watch(t)
  await known
  createsFail(new Unavailable('a moment'))
  for (let round = 0; round < 10; round++) {
    await create()
    await pass(11)
  }
  createsFail(new Error('not this one'))
  for (let round = 0; round < 10; round++) {
    t.same(await create(), ['not this one'])
    await pass(1)
  }
  t.same(told, [])
})

t.test('a hanging probe fails after two seconds and is repeated after ten', async (t) => {
  const { known, pass, probes, probesHang, probesSucceed, reason, create } = watch(t)
  await known
  let answer = () => {}
  probesHang(
    new Promise((resolve) => {
      answer = resolve
    }),
  )
  await pass(7)
  t.equal(probes(), 2)
  t.equal(reason(), undefined)
  await pass(1)
  t.equal(reason(), 'the store did not respond within 2000 ms')
  answer()
  await pass(1)
  t.equal(reason(), undefined, 'a late response counts')
  probesHang()
  await pass(5)
  const asked = probes()
  await pass(9)
  t.equal(probes(), asked)
  t.equal(reason(), 'the store did not respond within 2000 ms')
  probesSucceed()
  await pass(1)
  t.equal(probes(), asked + 1)
  t.equal(reason(), undefined)
  probesHang()
  await pass(5)
  for (let second = 0; second < 5; second++) {
    await create()
    await pass(1)
  }
  t.equal(reason(), undefined, 'new plants count as responses')
})

t.test('a store whose probes reject with a value other than an Error is not ready', async (t) => {
  for (const value of ['a text', undefined]) {
    const health = watchStore({ ...openMemory(), ready: () => Promise.reject(value) }, () => {})
    await health.known
    t.equal(health.reason(), String(value))
    health.close()
  }
})
