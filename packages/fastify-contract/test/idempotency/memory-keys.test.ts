import t from 'tap'
import { keyStoreConformance } from '../../src/idempotency/conformance.ts'
import { memoryKeys } from '../../src/idempotency.ts'

for (const [name, run] of Object.entries(keyStoreConformance)) {
  t.test(`keys in memory: ${name}`, async () => {
    let time = 0
    const wait = async (milliseconds: number) => {
      time += milliseconds
    }
    await run(async (limits) => memoryKeys(limits, () => time), { isPrivate: true, wait })
  })
}

t.test('limits that are not positive are rejected', async (t) => {
  t.throws(() => memoryKeys({ lease: 0 }), { message: /lease of the idempotency keys is 0/ })
})
