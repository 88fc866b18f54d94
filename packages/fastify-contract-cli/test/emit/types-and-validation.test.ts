import t from 'tap'
import { disagreements } from './types-and-validation.ts'

t.test('the compiler accepts the body of a request or a response exactly if the service does', async (t) => {
  t.same(await disagreements({ seed: 1, schemas: 150, values: 6, depth: 2 }), [])
})
