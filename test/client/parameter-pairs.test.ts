import t from 'tap'
import { filledPath, pairText, parameterPairs } from '../../src/client/parameter-pairs.ts'

const text = (more: Partial<Parameters<typeof parameterPairs>[0]>, value: unknown) =>
  parameterPairs({ name: 'a b', in: 'query', ...more }, value)
    .map(pairText)
    .join('&')

t.test('an array is repeated in a query or in cookies, or joined by the delimiter of its style', async (t) => {
  const value = ['x,y', 2n ** 63n - 1n, true]
  t.equal(text({}, value), 'a%20b=x%2Cy&a%20b=9223372036854775807&a%20b=true')
  t.equal(text({ explode: false }, value), 'a%20b=x%2Cy,9223372036854775807,true')
  t.equal(text({ style: 'spaceDelimited' }, value), 'a%20b=x%2Cy%209223372036854775807%20true')
  t.equal(text({ style: 'pipeDelimited' }, value), 'a%20b=x%2Cy%7C9223372036854775807%7Ctrue')
  t.equal(text({ in: 'cookie' }, value), 'a%20b=x%2Cy&a%20b=9223372036854775807&a%20b=true')
  t.equal(text({ in: 'cookie', explode: false }, value), 'a%20b=x%2Cy,9223372036854775807,true')
  t.equal(text({}, []), '')
})

t.test('a header is sent as it is', async (t) => {
  t.same(parameterPairs({ name: 'X-Tags', in: 'header' }, ['é', 'b c']), [['X-Tags', 'é,b c']])
})

t.test('a path is filled with encoded values', async (t) => {
  const pairs = parameterPairs({ name: 'id', in: 'path' }, '$&/ä')
  t.equal(filledPath('/plants/{id}/photo', pairs), '/plants/%24%26%2F%C3%A4/photo')
})
