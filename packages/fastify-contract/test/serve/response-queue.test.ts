import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { responseQueue } from '../../src/serve/request-steps.ts'

t.test('queued responses are sent in their order at the end of the turn', async (t) => {
  const sent: number[] = []
  const queue = responseQueue<number>((response) => sent.push(response))
  queue(1)
  queue(2)
  t.same(sent, [])
  await turn()
  t.same(sent, [1, 2])
  queue(3)
  await turn()
  t.same(sent, [1, 2, 3])
})

t.test('64 queued responses are sent at once', async (t) => {
  const sent: number[] = []
  const queue = responseQueue<number>((response) => sent.push(response))
  for (let i = 0; i < 65; i++) queue(i)
  t.equal(sent.length, 64)
  await turn()
  t.equal(sent.length, 65)
})

t.test('each response is sent in the async context of its request', async (t) => {
  const storage = new AsyncLocalStorage<number>()
  const seen: unknown[] = []
  const queue = responseQueue<number>((response) => seen.push([response, storage.getStore()]))
  for (let i = 0; i < 65; i++) storage.run(i, queue, i)
  await turn()
  t.same(
    seen,
    Array.from({ length: 65 }, (_, i) => [i, i]),
  )
})
