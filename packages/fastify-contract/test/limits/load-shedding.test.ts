import t from 'tap'
import { defaultLimits, watchOverload } from '../../src/limits/limits.ts'

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
    const { admit, run, close } = watchOverload({ ...defaultLimits, inFlight: 1, eventLoopDelay: 60_000 }, () => {})
    t.teardown(close)
    const ends: (() => void)[] = []
    for (let n = 0; n < 3; n++) run(new Promise<void>((resolve) => ends.push(resolve)), () => {})
    for (const n of order) {
      t.match(admit(), { kind: 'unavailable' }, `${order}: before the end of ${n}`)
      ends[n]?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(admit(), undefined, `${order}: at the end`)
  }
})
