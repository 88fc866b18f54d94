import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { groupCommit } from '../../src/store/group-commit.ts'
import { Unavailable } from '../../src/store/plant-store.ts'
import { controlledGroupCommit } from './controlled-commit.ts'

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
  const { submit, given, end } = controlledGroupCommit({ outstanding: 1 })
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
