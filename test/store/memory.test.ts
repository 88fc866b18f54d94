import { parseJson } from 'fastify-contract'
import { heapInUse } from 'fastify-contract-test-support/heap'
import t from 'tap'
import { mapIndexOf, openMemory } from '../../src/store/memory.ts'

const size = 262_144

t.test('a plant in the memory store keeps nothing else of its body', async (t) => {
  const store = openMemory()
  const before = heapInUse()
  for (let id = 0; id < 200; id++) {
    const text = JSON.stringify({ id, name: `a name of ${id} here`, tag: `tag ${id} of many`, more: 'x'.repeat(size) })
    const { name, tag } = parseJson(text).value as { name: string; tag: string }
    await store.create({ id: BigInt(id), name, tag })
  }
  t.ok(heapInUse() - before < 10 * size, '200 plants use less memory than 10 bodies')
  await store.close()
})

t.test('ids are spread evenly over small maps, also those that differ only in some of their bits', async (t) => {
  const count = 100_000
  const series: Record<string, (n: number) => bigint> = {
    'one after the other': (n) => BigInt(n),
    negative: (n) => -BigInt(n),
    'multiples of 4,096': (n) => BigInt(n) << 12n,
    'multiples of 2^32': (n) => BigInt(n) << 32n,
    'beyond 2^53': (n) => 2n ** 62n + BigInt(n) * 1_024n,
    'times with a counter': (n) => (BigInt(1_700_000_000_000 + n) << 22n) + 1n,
  }
  for (const [name, idOf] of Object.entries(series)) {
    const sizes = new Map<number, number>()
    for (let n = 0; n < count; n++) {
      const index = mapIndexOf(Number(idOf(n)))
      sizes.set(index, (sizes.get(index) ?? 0) + 1)
    }
    t.ok(Math.max(...sizes.values()) < 4 * (count / 1_024), `${name}: ${Math.max(...sizes.values())}`)
  }
})
