import t from 'tap'
import { disagreements } from './types-and-validation.ts'

/** PROPERTY_RUNS=100 tests more and other documents. */
const runs = Number(process.env.PROPERTY_RUNS ?? 8)
const first = process.env.PROPERTY_RUNS === undefined ? 1 : Date.now() % 1_000_000

t.test('types and validation agree on the bodies of many documents', async (t) => {
  for (let seed = first; seed < first + runs; seed++)
    t.same(await disagreements({ seed, schemas: 200, values: 8, depth: seed % 3 }), [], `seed ${seed}`)
})
