import t from 'tap'
import { openStore } from '../../src/store/open.ts'
import { conformance } from './conformance.ts'

for (const [name, run] of Object.entries(conformance)) {
  t.test(name, (t) => t.resolves(run(() => openStore('memory:'), false)))
}
