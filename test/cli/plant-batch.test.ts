import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createBatch, newImportTally } from '../../src/cli/plants-import.ts'
import { openMemory } from '../../src/store/memory.ts'
import type { StoredPlant } from '../../src/store/plant-store.ts'

const numbers = 'new: 2, identical: 1, in conflict: 1, invalid lines: 0\nids in conflict: 1\n'
const plants: StoredPlant[] = [
  { id: 1n, name: 'a' },
  { id: 2n, name: 'a' },
  { id: 2n, name: 'a' },
  { id: 1n, name: 'b' },
]

/** Returns a store whose create fails a number of times for each plant before it succeeds. */
function failing(times: number, error: Error) {
  const store = openMemory()
  const failed = new Map<StoredPlant, number>()
  const create = async (plant: StoredPlant) => {
    const count = failed.get(plant) ?? 0
    failed.set(plant, count + 1)
    if (count < times) throw error
    return await store.create(plant)
  }
  return { create, tried: () => Math.max(...failed.values()) }
}

const { signal: interrupt } = new AbortController()
const busy = () => Object.assign(new Error('busy'), { retryAfter: 0.001 })

t.test('creates are retried while the store is unavailable', async (t) => {
  for (const times of [0, 29]) {
    const tally = newImportTally()
    await createBatch(plants, { store: failing(times, busy()), tally, interrupt })
    t.equal(tally.summary(), numbers)
    t.equal(tally.plants(), 4)
    t.equal(tally.isComplete(), false)
  }
})

t.test('a long outage and any other failure end the batch', async (t) => {
  const late = failing(30, busy())
  await t.rejects(createBatch(plants, { store: late, tally: newImportTally(), interrupt }), { message: /^busy$/ })
  t.equal(late.tried(), 30)
  const broken = failing(1, new Error('broken'))
  await t.rejects(createBatch(plants, { store: broken, tally: newImportTally(), interrupt }), { message: /^broken$/ })
  t.equal(broken.tried(), 1)
  const stopped = failing(1, busy())
  const creating = createBatch(plants, { store: stopped, tally: newImportTally(), interrupt: AbortSignal.abort() })
  await t.rejects(creating, { message: /^busy$/ })
  t.equal(stopped.tried(), 1)
})

t.test('plants created in a failed batch are counted', async (t) => {
  const store = openMemory()
  const tally = newImportTally()
  const create = async (plant: StoredPlant) => {
    if (plant.id === 1n) throw new Error('broken')
    await turn()
    return await store.create(plant)
  }
  await t.rejects(createBatch(plants, { store: { create }, tally, interrupt }), { message: /^broken$/ })
  t.equal(tally.summary(), 'new: 1, identical: 1, in conflict: 0, invalid lines: 0\n')
})

t.test('a summary lists the first ten IDs and lines', async (t) => {
  const tally = newImportTally()
  t.equal(tally.isComplete(), true)
  for (let n = 1; n <= 12; n++) {
    tally.add(BigInt(-n), 'conflict')
    tally.addInvalid(n, `reason ${n}`)
  }
  const lines = Array.from({ length: 10 }, (_, n) => `line ${n + 1}: reason ${n + 1}\n`).join('')
  t.equal(
    tally.summary(),
    'new: 0, identical: 0, in conflict: 12, invalid lines: 12\n' +
      `ids in conflict: -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, and 2 more\n${lines}and 2 more lines are invalid\n`,
  )
})
