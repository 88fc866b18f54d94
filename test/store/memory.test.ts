import t from 'tap'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'

for (const [name, run] of Object.entries(conformance)) {
  t.test(name, (t) => t.resolves(run(() => openStore('memory:'), false)))
}
