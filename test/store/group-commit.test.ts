import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout, setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type BatchMessage, groupCommit } from '../../src/store/group-commit.ts'
import { Unavailable } from '../../src/store/plant-store.ts'
import { controlledGroupCommit } from './controlled-commit.ts'

t.test('a lone item is committed in the same turn of the event loop', async (t) => {
  const { submit, given, end } = controlledGroupCommit()
  const outcome = submit(1)
  await turn()
  t.same(given(), [[1]])
  await end()
  t.equal(await outcome, '1 is kept')
})

t.test('64 waiting items are committed before the turn ends', async (t) => {
  const { submit, given, end } = controlledGroupCommit()
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

t.test('items that arrive during two commits form one batch, in order, each with its own outcome', async (t) => {
  const { submit, given, end } = controlledGroupCommit()
  const outcomes = [submit(1)]
  await turn()
  outcomes.push(submit(2))
  await turn()
  for (const item of [3, 4, 5]) outcomes.push(submit(item))
  await turn()
  t.same(given(), [[1], [2]], 'two batches are outstanding')
  await end()
  t.same(given(), [[2], [3, 4, 5]])
  await end()
  await end()
  t.same(await Promise.all(outcomes), ['1 is kept', '2 is kept', '3 is kept', '4 is kept', '5 is kept'])
})

t.test('many waiting items do not start more batches than may be outstanding', async (t) => {
  const { submit, given, end } = controlledGroupCommit()
  const outcomes = Array.from({ length: 3 * 64 }, (_, item) => submit(item))
  for (let turns = 0; turns < 5; turns++) await turn()
  t.same(
    given().map((items) => items.length),
    [64, 64],
  )
  for (let batches = 0; batches < 3; batches++) await end()
  t.equal((await Promise.all(outcomes)).length, 3 * 64)
})

t.test('an outcome is returned after the commit', async (t) => {
  const { submit, end } = controlledGroupCommit()
  let settled = false
  const outcome = submit(1).finally(() => {
    settled = true
  })
  for (let turns = 0; turns < 5; turns++) await turn()
  t.equal(settled, false)
  await end()
  await outcome
})

t.test('a batch has a size limit', async (t) => {
  const { submit, given, end } = controlledGroupCommit({ batchBytes: 10, maxInFlight: 1 })
  const outcomes = [4, 5, 6, 100, 1, 2].map(submit)
  for (const batch of [[4, 5, 6], [100], [1, 2]]) {
    await turn()
    t.same(given(), [batch])
    await end()
  }
  t.equal((await Promise.all(outcomes)).length, 6)
})

t.test('by default a batch ends with the item that reaches 1 MiB', async (t) => {
  const { submit, given, end } = controlledGroupCommit({ maxInFlight: 1 })
  const outcomes = [2 ** 19, 2 ** 19, 1].map(submit)
  for (const batch of [[2 ** 19, 2 ** 19], [1]]) {
    await turn()
    t.same(given(), [batch])
    await end()
  }
  await Promise.all(outcomes)
})

t.test('a batch has a limited number of items', async (t) => {
  const { submit, given, end } = controlledGroupCommit({ batchItems: 2, maxInFlight: 1 })
  const outcomes = [1, 2, 3, 4, 5].map(submit)
  for (const batch of [[1, 2], [3, 4], [5]]) {
    await turn()
    t.same(given(), [batch])
    await end()
  }
  t.equal((await Promise.all(outcomes)).length, 5)
})

t.test('the queue has a size limit, and accepts items again once they fit', async (t) => {
  const { submit, end } = controlledGroupCommit({ queueBytes: 10 })
  const alone = submit(1000)
  const refused = await submit(1).catch((error) => error)
  t.match(refused, { name: 'Unavailable', retryAfter: 1 })
  await turn()
  await end()
  t.equal(await alone, '1000 is kept', 'a lone item may exceed the limit')
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

t.test('close waits for accepted items and rejects new ones', async (t) => {
  const { submit, close, end } = controlledGroupCommit({ maxInFlight: 1 })
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

t.test('every batch is published at its end, even when it failed', async (t) => {
  const told: BatchMessage[] = []
  const keep = (message: unknown) => told.push(message as BatchMessage)
  subscribe('plant-store:batch', keep)
  t.teardown(() => unsubscribe('plant-store:batch', keep))
  const { submit, end } = controlledGroupCommit({ batchBytes: 3, maxInFlight: 1 })
  const outcomes = [1, 2, 3, 4].map((item) => submit(item).catch(String))
  await turn()
  t.same(told, [], 'not before the batch has its outcome')
  // Gives the batch a duration to measure.
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
  t.ok((told[0] as BatchMessage).duration >= 19, 'the duration is in milliseconds')
})

t.test('when a batch fails, only the faulty item fails', async (t) => {
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

t.test('items are no longer retried one by one once the store is unavailable', async (t) => {
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

t.test('when the store is unavailable, all waiting items fail at once', async (t) => {
  const { submit, given, end } = controlledGroupCommit({ maxInFlight: 1 })
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
  t.equal(await later, '4 is kept', 'later items succeed')
})
