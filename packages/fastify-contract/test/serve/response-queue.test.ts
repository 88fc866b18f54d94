import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { responseQueue } from '../../src/serve/response-queue.ts'

/** Counts of a loop that has many events in each turn. */
const busy = () => ({ loopCount: 1, events: 100 })

t.test('queued responses are sent in their order at the end of the turn', async (t) => {
  const sent: number[] = []
  const queue = responseQueue(busy)
  queue(() => sent.push(1))
  queue(() => sent.push(2))
  t.same(sent, [])
  await turn()
  t.same(sent, [1, 2])
  queue(() => sent.push(3))
  await turn()
  t.same(sent, [1, 2, 3])
})

t.test('64 queued responses are sent at once', async (t) => {
  const sent: number[] = []
  const queue = responseQueue(busy)
  for (let i = 0; i < 65; i++) queue(() => sent.push(i))
  t.equal(sent.length, 64)
  await turn()
  t.equal(sent.length, 65)
})

t.test('each response is sent in the async context of its request', async (t) => {
  const storage = new AsyncLocalStorage<number>()
  const seen: unknown[] = []
  const queue = responseQueue(busy)
  for (let i = 0; i < 65; i++) storage.run(i, queue, () => seen.push([i, storage.getStore()]))
  await turn()
  t.same(
    seen,
    Array.from({ length: 65 }, (_, i) => [i, i]),
  )
})

t.test('the first response of a turn is sent at once if each turn had at most one event', async (t) => {
  const sent: string[] = []
  let counts = { loopCount: 10, events: 10 }
  const queue = responseQueue(() => counts)
  queue(() => sent.push('first'))
  t.same(sent, ['first'])
  queue(() => sent.push('second of the turn'))
  t.same(sent, ['first'])
  await turn()
  counts = { loopCount: 12, events: 12 }
  queue(() => sent.push('third'))
  t.same(sent, ['first', 'second of the turn', 'third'])
  counts = { loopCount: 13, events: 14 }
  queue(() => sent.push('of a turn with two events'))
  t.equal(sent.length, 3)
  await turn()
  t.equal(sent.length, 4)
})

t.test('the counts of the event loop itself are known', async (t) => {
  const sent: number[] = []
  const queue = responseQueue()
  for (let i = 0; i < 3; i++) {
    queue(() => sent.push(i))
    await turn()
  }
  t.same(sent, [0, 1, 2])
})
