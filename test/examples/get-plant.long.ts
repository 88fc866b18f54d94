import t from 'tap'
import { runExample } from './run-example.ts'

t.test('get-plant.patch adds an operation that generates, compiles and answers', async (t) => {
  await runExample(t, 'get-plant.patch', { changesService: true })
})
