import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { clientAddress } from '../../src/http/request-context.ts'
import { createLoadShedder, defaultLimits, networkOf, rateLimit } from '../../src/limits/limits.ts'

t.test('the network of an address is all of IPv4 and the first 64 bits of IPv6', async (t) => {
  const networks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::1': '0:0:0:0',
    '::': '0:0:0:0',
    '2001:DB8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8::1': '2001:db8:0:0',
    '2001:db8:1:2::': '2001:db8:1:2',
    'fe80::1%eth0': 'fe80:0:0:0',
  }
  for (const [address, network] of Object.entries(networks)) t.equal(networkOf(address), network, address)
})

t.test('handlers that end in any order leave the number of running handlers exact', async (t) => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  for (const order of orders) {
    const limits = { ...defaultLimits, inFlight: 1, eventLoopDelay: 60_000 }
    const { shedLoad, runWithTimeout, close } = createLoadShedder(limits, () => {})
    t.teardown(close)
    const ends: (() => void)[] = []
    for (let n = 0; n < 3; n++) runWithTimeout(new Promise<void>((resolve) => ends.push(resolve)), () => {})
    for (const n of order) {
      t.match(shedLoad(), { kind: 'unavailable' }, `${order}: before the end of ${n}`)
      ends[n]?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(shedLoad(), undefined, `${order}: at the end`)
  }
})

/** Blocks the event loop without using CPU. */
const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

t.test('a delay of the event loop counts only under requests, and one pause never rejects a request', async (t) => {
  const measured = () => sleep(30)
  const { shedLoad, close } = createLoadShedder({ ...defaultLimits, eventLoopDelay: 20 }, () => {})
  t.teardown(close)
  for (let pause = 0; pause < 4; pause++) {
    block(300)
    await measured()
  }
  t.equal(shedLoad(), undefined, 'after the start of the process')
  // Other programs on the machine may add pauses of their own.
  const rejections: unknown[] = []
  for (let pause = 0; pause < 8; pause++) {
    block(100)
    await new Promise((resolve) => setTimeout(resolve, 0))
    rejections.push(shedLoad())
  }
  t.ok(
    rejections.some((error) => error !== undefined),
    'late in each turn',
  )

  const fresh = createLoadShedder({ ...defaultLimits, eventLoopDelay: 400 }, () => {})
  t.teardown(fresh.close)
  t.equal(fresh.shedLoad(), undefined)
  block(4_000)
  await measured()
  t.equal(fresh.shedLoad(), undefined, 'after one long pause')
})

t.test('a handler that begins right before or after a pause of the process does not time out', async (t) => {
  const shedder = createLoadShedder({ ...defaultLimits, handlerTime: 500 }, () => {})
  t.teardown(shedder.close)
  const ends: unknown[] = []
  const run = () => shedder.runWithTimeout(sleep(10), (error) => ends.push(error))
  run()
  block(900)
  run()
  await sleep(60)
  t.same(ends, [undefined, undefined])
})

t.test('the limit per minute holds for bursts and for spread events', async (t) => {
  let time = 1_000_000
  const { take: count, wait } = rateLimit(3, undefined, () => time)
  t.equal(wait('a'), 0)
  t.same([count('a'), count('a'), count('a')], [0, 0, 0])
  t.equal(wait('a'), 20, 'wait() does not count a request')
  t.equal(count('a'), 20, 'the next request is allowed after a third of a minute')
  t.equal(count('b'), 0, 'each key has a quota of its own')
  time += 19_999
  t.equal(count('a'), 0.001)
  time += 1
  t.equal(count('a'), 0, 'rejected requests do not count')
  t.equal(count('a'), 20)
  time += 60_000
  t.same([count('a'), count('a'), count('a'), count('a')], [0, 0, 0, 20], 'after a minute the quota is full again')
})

t.test('a limit of 0 allows every event', async (t) => {
  const { take: count, wait } = rateLimit(0)
  for (let i = 0; i < 1_000; i++) t.same([count('a'), wait('a')], [0, 0])
})

t.test('the rate limiter evicts keys whose quota is full again and keeps the others', async (t) => {
  let time = 0
  const { take: count } = rateLimit(1, undefined, () => time)
  for (let i = 0; i < 10_000; i++) count(String(i))
  time = 30_000
  count('kept')
  t.equal(count('0'), 30, 'no quota is full again yet')
  time = 60_000
  for (let i = 0; i < 20_000; i++) count(`later ${i}`)
  t.equal(count('kept'), 30)
  t.equal(count('0'), 0)
})

t.test('clients with the same key share one quota', async (t) => {
  const { take } = rateLimit(
    1,
    (client) => client.slice(0, 1),
    () => 0,
  )
  t.same([take('ab'), take('ac'), take('b')], [0, 60, 0])
})

t.test('rounding to milliseconds loses no event', async (t) => {
  for (const limit of [1, 3, 7, 60, 999])
    for (const start of [0.1, 4_321.987654, 86_400_000.123456, 31_536_000_000.7]) {
      const { take } = rateLimit(limit, undefined, () => start)
      const taken = Array.from({ length: limit + 1 }, () => take('a'))
      t.equal(
        taken.findIndex((seconds) => seconds > 0),
        limit,
        `${limit} a minute at ${start}`,
      )
    }
})

const told = (ip: string) => clientAddress({ ip, socket: { remoteAddress: '127.0.0.1' } } as never)

t.test('an address is returned without its port', async (t) => {
  for (const address of ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1']) t.equal(told(address), address)
  t.equal(told('192.0.2.1:65535'), '192.0.2.1')
  t.equal(told('[2001:db8::1]:1'), '2001:db8::1')
  t.equal(told('[2001:db8::1]'), '2001:db8::1')
})

t.test('text that is not an address is ignored, so it cannot reach the log', async (t) => {
  for (const text of ['', 'unknown', '_hidden', '192.0.2.256:1', '[x]:1', 'x'.repeat(10_000), '{"a":1}'])
    t.equal(told(text), '127.0.0.1', text.slice(0, 20))
  t.equal(clientAddress({ ip: undefined, socket: {} } as never), undefined, 'a closed connection')
})
