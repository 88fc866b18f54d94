import assert from 'node:assert/strict'
import type { PlantQueries, PlantStore } from '../../src/store/plant-store.ts'

type Database = Pick<PlantStore, 'create'> & PlantQueries

const least = -(2n ** 63n)
const greatest = 2n ** 63n - 1n

/** Test cases that every database of plants must pass; each takes an empty database. */
export const querySuite: Record<string, (store: Database) => Promise<void>> = {
  'plants are listed exactly, with or without a tag': async (store) => {
    const plants = [
      { id: least, name: 'a' },
      { id: 2n ** 53n + 1n, name: '', tag: '' },
      { id: greatest, name: 'ä', tag: 'b' },
    ]
    for (const plant of plants) await store.create(plant)
    assert.deepEqual(await store.list(least, 10), plants)
  },

  'a list has a limited number of plants, in the order of their ids': async (store) => {
    assert.deepEqual(await store.list(least, 10), [])
    const ids = [greatest, 10n, -1n, 9n, least, 0n, greatest - 1n]
    await Promise.all(ids.map((id) => store.create({ id, name: `plant ${id}`, tag: 'b' })))
    const listed = async (from: bigint, limit: number) => (await store.list(from, limit)).map(({ id }) => id)
    assert.deepEqual(await listed(least, 3), [least, -1n, 0n])
    assert.deepEqual(await listed(0n, 3), [0n, 9n, 10n])
    assert.deepEqual(await listed(11n, 3), [greatest - 1n, greatest])
    assert.deepEqual(await listed(greatest, 3), [greatest])
    assert.deepEqual(await store.list(9n, 1), [{ id: 9n, name: 'plant 9', tag: 'b' }])
  },
}
