import assert from 'node:assert/strict'
import type { CreateOutcome, PlantStore } from './plant-store.ts'

/** Opens the store of one test, empty at the first call. A later call opens a durable store again, with its plants. */
type Open = () => Promise<PlantStore>

/**
 * The requirements on every store, one function for each, for any test runner. A function opens the store with `open`
 * and rejects with an AssertionError when the store violates the requirement. `durable` says that a store keeps its
 * plants when it is closed and opened again.
 */
export const conformance: Record<string, (open: Open, durable: boolean) => Promise<void>> = {
  outcomes: withStore(async function createTwice(store) {
    await store.ready()
    assert.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'created')
    assert.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'identical')
    for (const other of [{ name: 'b', tag: 'b' }, { name: 'a', tag: 'c' }, { name: 'a' }, { name: 'a', tag: '' }]) {
      assert.equal(await store.create({ id: 1n, ...other }), 'conflict')
    }
    assert.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'identical', 'a conflict changes nothing')
  }),

  'no tag is not an empty tag': withStore(async function compareTags(store) {
    assert.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    assert.equal(await store.create({ id: 1n, name: 'a', tag: '' }), 'conflict')
    assert.equal(await store.create({ id: 2n, name: 'a', tag: '' }), 'created')
    assert.equal(await store.create({ id: 2n, name: 'a' }), 'conflict')
    assert.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  }),

  'every 64-bit id is distinct': withStore(async function compareIds(store) {
    const ids = [0n, -1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n) + 1n]
    for (const id of ids) assert.equal(await store.create({ id, name: String(id) }), 'created')
    for (const id of ids) assert.equal(await store.create({ id, name: String(id) }), 'identical')
  }),

  'text is kept as it is': withStore(async function keepText(store) {
    const planes = Array.from({ length: 17 }, (_, plane) => String.fromCodePoint(plane * 0x10000 + 0xfffd)).join('')
    const controls = String.fromCharCode(...Array.from({ length: 31 }, (_, code) => code + 1))
    const composed = ['\u00e9', 'e\u0301']
    const syntax = ["'; DROP TABLE plants; --", '%s $1 ?', '{a,"b\\",NULL}', 'NULL', '\\', '"']
    const names = ['', ' ', planes, controls, ...composed, ...syntax, 'x'.repeat(200 * 1024)]
    for (const [id, name] of names.entries()) {
      const plant = { id: BigInt(id), name, tag: name }
      assert.equal(await store.create(plant), 'created')
      assert.equal(await store.create(plant), 'identical')
      assert.equal(await store.create({ ...plant, name: `${name}x` }), 'conflict')
    }
  }),

  'one of two concurrent writes of an id wins, when they are close together': withStore((store) =>
    race(store, (n) => n >> 1),
  ),

  'one of two concurrent writes of an id wins, when they are far apart': withStore((store) =>
    race(store, (n) => n % (count / 2)),
  ),

  'close waits for pending writes and rejects new ones': withStore(async function close(store, open, durable) {
    const creates = Array.from({ length: 100 }, (_, id) => store.create({ id: BigInt(id), name: 'a' }))
    await Promise.all([store.close(), store.close()])
    assert.deepEqual(new Set(await Promise.all(creates)), new Set(['created']))
    await assert.rejects(store.create({ id: 1n, name: 'a' }))
    await assert.rejects(store.ready())
    if (!durable) return
    const again = await open()
    for (const id of [0n, 99n]) assert.equal(await again.create({ id, name: 'a' }), 'identical')
    assert.equal(await again.create({ id: 100n, name: 'a' }), 'created')
    await again.close()
  }),
}

function withStore(run: (store: PlantStore, open: Open, durable: boolean) => Promise<void>) {
  return async function testOn(open: Open, durable: boolean): Promise<void> {
    const store = await open()
    try {
      await run(store, open, durable)
    } finally {
      await store.close()
    }
  }
}

const count = 10_000

/** Creates `count` plants concurrently, two for each id with different names. */
async function race(store: PlantStore, idOf: (n: number) => number): Promise<void> {
  const plants = Array.from({ length: count }, (_, n) => ({ id: BigInt(idOf(n)), name: `plant ${n}` }))
  const outcomes = await Promise.all(plants.map((plant) => store.create(plant)))
  const of = (outcome: CreateOutcome) => outcomes.filter((each) => each === outcome).length
  assert.deepEqual([of('created'), of('conflict'), of('identical')], [count / 2, count / 2, 0])
  const again = await Promise.all(plants.map((plant) => store.create(plant)))
  assert.deepEqual(
    again.map((outcome) => outcome === 'identical'),
    outcomes.map((outcome) => outcome === 'created'),
    'the winners, and only they, are in the store',
  )
}
