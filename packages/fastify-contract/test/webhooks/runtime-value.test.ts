import t from 'tap'
import { runtimeValue } from '../../src/contract/runtime-expression.ts'

const context = {
  method: 'POST',
  request: { path: { id: 7n }, body: { names: ['a b'] } },
  response: { status: 201, headers: { location: '/pets/7' }, body: { id: 9_007_199_254_740_993n, tags: ['x'] } },
}

t.test('the parameter of a link is the value of an expression, a text with such values, or a constant', async (t) => {
  t.equal(runtimeValue('$response.body#/id', context), 9_007_199_254_740_993n)
  t.same(runtimeValue('$response.body#/tags', context), ['x'])
  t.equal(runtimeValue('$request.path.id', context), 7n)
  t.equal(runtimeValue('$response.header.location', context), '/pets/7')
  t.equal(runtimeValue('pet {$request.path.id} of {$request.body#/names/0}', context), 'pet 7 of a b')
  t.equal(runtimeValue('constant', context), 'constant')
  t.equal(runtimeValue(12, context), 12)
})

t.test('an invalid expression, and one without a value, is undefined', async (t) => {
  for (const expression of ['$response.body#/none', '$nothing', '$request.query.q', 'a {$response.body#/tags}'])
    t.equal(runtimeValue(expression, context), undefined, expression)
})
