import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout, setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type BatchMessage, groupCommit } from '../../src/store/group-commit.ts'
import { Unavailable } from '../../src/store/unavailable.ts'

/** A commit that ends when it is told to, and the batches that it was given. */
function controlled(options: { batchBytes?: number; queueBytes?: number; outstanding?: number } = {}) {
  const batches: { items: number[]; end(error?: Error): void }[] = []
  const creates = groupCommit<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const outcomes = items.map((item) => `${item} is kept`)
        batches.push({ items, end: (error) => (error === undefined ? resolve(outcomes) : reject(error)) })
      }),
    { sizeOf: (item) => item, ...options },
  )
  const given = () => batches.map(({ items }) => items)
  const end = async (error?: Error) => {
    batches.shift()?.end(error)
    await turn()
    await turn()
  }
  return { ...creates, given, end }
}

t.test('a lone item goes in the turn in which it came', async (t) => {
  const { submit, given, end } = controlled()
  const outcome = submit(1)
  await turn()
  t.same(given(), [[1]])
  await end()
  t.equal(await outcome, '1 is kept')
})

t.test('a crowd does not wait for the turn to end', async (t) => {
  const { submit, given, end } = controlled()
  const outcomes = Array.from({ length: 65 }, (_, item) => submit(item))
  t.same(
    given().map((items) => items.length),
    [64],
  )
  await turn()
  await end()
  await end()
  t.equal((await Promise.all(outcomes)).length, 65)
})

t.test('what comes while batches are under way goes together, in order, each with its own outcome', async (t) => {
  const { submit, given, end } = controlled()
  const outcomes = [submit(1)]
  await turn()
  outcomes.push(submit(2))
  await turn()
  for (const item of [3, 4, 5]) outcomes.push(submit(item))
  await turn()
  t.same(given(), [[1], [2]], 'two batches at once')
  await end()
  t.same(given(), [[2], [3, 4, 5]])
  await end()
  await end()
  t.same(await Promise.all(outcomes), ['1 is kept', '2 is kept', '3 is kept', '4 is kept', '5 is kept'])
})

t.test('an outcome comes after the commit, not before', async (t) => {
  const { submit, end } = controlled()
  let settled = false
  const outcome = submit(1).finally(() => {
    settled = true
  })
  for (let turns = 0; turns < 5; turns++) await turn()
  t.equal(settled, false)
  await end()
  await outcome
})

t.test('a batch is bounded', async (t) => {
  const { submit, given, end } = controlled({ batchBytes: 10, outstanding: 1 })
  const outcomes = [4, 5, 6, 100, 1, 2].map(submit)
  for (const batch of [[4, 5, 6], [100], [1, 2]]) {
    await turn()
    t.same(given(), [batch])
    await end()
  }
  t.equal((await Promise.all(outcomes)).length, 6)
})

t.test('the queue is bounded, and takes again what fits', async (t) => {
  const { submit, end } = controlled({ queueBytes: 10 })
  const alone = submit(1000)
  const refused = await submit(1).catch((error) => error)
  t.match(refused, { name: 'Unavailable', retryAfter: 1 })
  await turn()
  await end()
  t.equal(await alone, '1000 is kept', 'one item may be larger, alone')
  const outcomes = [submit(4), submit(6)]
  await t.rejects(submit(1), Unavailable)
  await turn()
  await end()
  t.equal((await Promise.all(outcomes)).length, 2)
  const again = submit(10)
  await turn()
  await end()
  t.equal(await again, '10 is kept')
})

t.test('only the item to blame fails', async (t) => {
  const tried: number[][] = []
  const { submit } = groupCommit<number, string>(
    async (batch) => {
      tried.push(batch)
      if (batch.includes(3)) throw new Error('no threes')
      return batch.map(String)
    },
    { sizeOf: () => 1 },
  )
  const settled = await Promise.allSettled([1, 2, 3, 4].map(submit))
  t.same(
    settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message)),
    ['1', '2', 'no threes', '4'],
  )
  t.same(tried, [[1, 2, 3, 4], [1], [2], [3], [4]])
})

t.test('a store that goes away while items are tried alone is asked no more', async (t) => {
  let tried = 0
  const unavailable = new Unavailable('gone')
  const { submit, close } = groupCommit<number, string>(
    async (batch) => {
      tried++
      if (batch.length > 1) throw new Error('one of them')
      if (batch[0] === 2) throw unavailable
      return ['kept']
    },
    { sizeOf: () => 1 },
  )
  const outcomes = [1, 2, 3, 4].map(submit)
  await close()
  t.equal(await outcomes[0], 'kept')
  for (const outcome of outcomes.slice(1)) await t.rejects(outcome, unavailable)
  t.equal(tried, 3)
})

t.test('when the store cannot answer, all that wait learn it at once', async (t) => {
  const { submit, given, end } = controlled({ outstanding: 1 })
  const under = submit(1)
  await turn()
  const waiting = [submit(2), submit(3)]
  await turn()
  const unavailable = new Unavailable('the disk is full')
  await Promise.all([end(unavailable), ...[under, ...waiting].map((outcome) => t.rejects(outcome, unavailable))])
  t.same(given(), [])
  const later = submit(4)
  await turn()
  await end()
  t.equal(await later, '4 is kept', 'and it goes on')
})

t.test('a close waits for what was taken', async (t) => {
  const { submit, close, end } = controlled({ outstanding: 1 })
  const outcomes = [submit(1)]
  await turn()
  outcomes.push(submit(2))
  let closed = 0
  const closing = Promise.all([close(), close()]).then(() => closed++)
  await t.rejects(submit(3), /closed/)
  await end()
  t.equal(closed, 0)
  await end()
  await closing
  t.same(await Promise.all(outcomes), ['1 is kept', '2 is kept'])
  await close()
})

t.test('each batch is told of at its end, whatever became of it', async (t) => {
  const told: BatchMessage[] = []
  const keep = (message: unknown) => told.push(message as BatchMessage)
  subscribe('plant-store:batch', keep)
  t.teardown(() => unsubscribe('plant-store:batch', keep))
  const { submit, end } = controlled({ batchBytes: 3, outstanding: 1 })
  const outcomes = [1, 2, 3, 4].map((item) => submit(item).catch(String))
  await turn()
  t.same(told, [], 'not before its outcome')
  // Time passes, so that the duration has something to measure.
  await setTimeout(20)
  await end()
  await end()
  await end(new Error('no'))
  await Promise.all(outcomes)
  t.match(told, [
    { size: 2, queued: 2 },
    { size: 1, queued: 1 },
    { size: 1, queued: 0 },
  ])
  t.ok((told[0] as BatchMessage).duration >= 19, 'in milliseconds')
})
