import t, { type Test } from 'tap'
import type { CreateOutcome, PlantStore } from '../../src/store/plant-store.ts'

/** What every store must do. `open` gives the same store each time it is called within one test; `durable` reopens it. */
export function conformance(name: string, open: (t: Test) => () => Promise<PlantStore>, durable: boolean): void {
  const withStore = (
    what: string,
    run: (t: Test, store: PlantStore, reopen: () => Promise<PlantStore>) => Promise<void>,
  ) =>
    t.test(`${name}: ${what}`, async (t) => {
      const openAgain = open(t)
      const store = await openAgain()
      t.teardown(() => store.close().catch(() => {}))
      await run(t, store, openAgain)
    })

  withStore('outcomes', async (t, store) => {
    await store.ready()
    t.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'created')
    t.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'identical')
    for (const other of [{ name: 'b', tag: 'b' }, { name: 'a', tag: 'c' }, { name: 'a' }, { name: 'a', tag: '' }]) {
      t.equal(await store.create({ id: 1n, ...other }), 'conflict')
    }
    t.equal(await store.create({ id: 1n, name: 'a', tag: 'b' }), 'identical', 'a conflict changes nothing')
  })

  withStore('no tag is not an empty tag', async (t, store) => {
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    t.equal(await store.create({ id: 1n, name: 'a', tag: '' }), 'conflict')
    t.equal(await store.create({ id: 2n, name: 'a', tag: '' }), 'created')
    t.equal(await store.create({ id: 2n, name: 'a' }), 'conflict')
    t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  })

  withStore('every id of 64 bits is its own', async (t, store) => {
    const ids = [0n, -1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n) + 1n]
    for (const id of ids) t.equal(await store.create({ id, name: String(id) }), 'created')
    for (const id of ids) t.equal(await store.create({ id, name: String(id) }), 'identical')
  })

  withStore('text is kept as it is', async (t, store) => {
    const planes = Array.from({ length: 17 }, (_, plane) => String.fromCodePoint(plane * 0x10000 + 0xfffd)).join('')
    const controls = String.fromCharCode(...Array.from({ length: 31 }, (_, code) => code + 1))
    const names = [
      '',
      ' ',
      planes,
      controls,
      '\u00e9',
      'e\u0301',
      "'; DROP TABLE plants; --",
      '%s $1 ?',
      'x'.repeat(200 * 1024),
    ]
    for (const [id, name] of names.entries()) {
      const plant = { id: BigInt(id), name, tag: name }
      t.equal(await store.create(plant), 'created')
      t.equal(await store.create(plant), 'identical')
      t.equal(await store.create({ ...plant, name: `${name}x` }), 'conflict')
    }
  })

  withStore('many at once have one winner for each id', async (t, store) => {
    const count = 10_000
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, n) => store.create({ id: BigInt(n % (count / 2)), name: `plant ${n}` })),
    )
    const of = (outcome: CreateOutcome) => outcomes.filter((each) => each === outcome).length
    t.same([of('created'), of('conflict'), of('identical')], [count / 2, count / 2, 0])
    const again = await Promise.all(
      Array.from({ length: count }, (_, n) => store.create({ id: BigInt(n % (count / 2)), name: `plant ${n}` })),
    )
    t.same(
      again.map((outcome) => outcome === 'identical'),
      outcomes.map((outcome) => outcome === 'created'),
      'the winners, and only they, are in the store',
    )
  })

  withStore('a close waits for what was taken, and takes nothing more', async (t, store, reopen) => {
    const creates = Array.from({ length: 100 }, (_, id) => store.create({ id: BigInt(id), name: 'a' }))
    await Promise.all([store.close(), store.close()])
    t.same(new Set(await Promise.all(creates)), new Set(['created']))
    await t.rejects(store.create({ id: 1n, name: 'a' }))
    await t.rejects(store.ready())
    if (!durable) return
    const again = await reopen()
    for (const id of [0n, 99n]) t.equal(await again.create({ id, name: 'a' }), 'identical')
    t.equal(await again.create({ id: 100n, name: 'a' }), 'created')
    await again.close()
  })
}
