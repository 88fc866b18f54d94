import t from 'tap'
import { addedPrefix } from '../../src/contract/path-prefixes.ts'

t.test('a prefix precedes the paths unless all of them begin with it', async (t) => {
  t.equal(addedPrefix(['/pets', '/v1/pets'], '/v1'), '/v1')
  t.equal(addedPrefix(['/v1/pets', '/v1/owners'], '/v1'), '')
  t.equal(addedPrefix(['/v10/pets'], '/v1'), '/v1')
  t.equal(addedPrefix(['/pets'], ''), '')
})
