import { parseJson } from 'fastify-contract'
import { heapInUse } from 'fastify-contract-test-support/heap'
import t from 'tap'
import { openMemory } from '../../src/store/memory.ts'

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
