import t from 'tap'
import { createLoadShedder, defaultLimits } from '../../src/limits/limits.ts'

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
