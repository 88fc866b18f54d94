import t from 'tap'
import { expandPath, pairText, parameterPairs } from '../../src/client/call-request.ts'

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
  t.equal(text({ explode: false }, []), '')
  t.equal(text({ explode: false }, {}), 'a%20b=')
})

t.test('a header is sent as it is', async (t) => {
  t.same(parameterPairs({ name: 'X-Tags', in: 'header' }, ['é', 'b c']), [['X-Tags', 'é,b c']])
})

t.test('a path is filled with encoded values', async (t) => {
  const pairs = parameterPairs({ name: 'id', in: 'path' }, '$&/ä')
  t.equal(expandPath('/plants/{id}/photo', pairs), '/plants/%24%26%2F%C3%A4/photo')
})

t.test('an object is written in the style of its parameter', async (t) => {
  const value = { R: 1, 'a,b': 'c=d', '[]': '.', gone: undefined }
  t.equal(text({}, value), 'R=1&a%2Cb=c%3Dd&%5B%5D=.')
  t.equal(text({ explode: false }, value), 'a%20b=R,1,a%2Cb,c%3Dd,%5B%5D,.')
  t.equal(text({ style: 'deepObject' }, { R: 1, G: null }), 'a%20b%5BR%5D=1&a%20b%5BG%5D=')
  t.equal(text({ isJson: true }, { R: 2n ** 63n }), 'a%20b=%7B%22R%22%3A9223372036854775808%7D')
  const inPath = (style: string, explode: boolean, value: unknown) =>
    expandPath('{c}', parameterPairs({ in: 'path', name: 'c', style, explode }, value))
  t.equal(inPath('label', true, { a: 'b.c' }), '.a=b%2Ec')
  t.equal(inPath('label', false, ['b.c', 'd']), '.b.c,d')
  t.equal(inPath('matrix', true, { a: 'b', c: '' }), ';a=b;c=')
  t.equal(inPath('matrix', true, ['b', 'c']), ';c=b;c=c')
  t.equal(inPath('matrix', false, { a: 'b' }), ';c=a,b')
  t.equal(inPath('simple', true, { a: 'b', c: 'd' }), 'a=b,c=d')
})

t.test('JSON in a header has characters of ASCII alone', async (t) => {
  const pair = parameterPairs({ in: 'header', name: 'X-A', isJson: true }, { ä: '𝒳' })
  t.same(pair, [['X-A', '{"\\u00e4":"\\ud835\\udcb3"}']])
  t.same(JSON.parse(pair[0]?.[1] ?? ''), { ä: '𝒳' })
})

t.test('a value that its style cannot represent is rejected', async (t) => {
  const problems = (parameter: Partial<Parameters<typeof parameterPairs>[0]>, value: unknown): string[] => {
    const found: string[] = []
    parameterPairs({ name: 'a', in: 'query', ...parameter }, value, (problem) => found.push(problem))
    return found
  }
  t.same(problems({ style: 'spaceDelimited' }, ['a b']), ['its parts cannot contain " "'])
  t.same(problems({ style: 'pipeDelimited' }, { a: 'b|c' }), ['its parts cannot contain "|"'])
  t.same(problems({ style: 'deepObject' }, { 'a[': 1 }), ['the name of a property cannot contain a bracket'])
  t.same(problems({ in: 'header' }, ['a,b']), ['its parts cannot contain ","'])
  t.same(problems({ in: 'header' }, ' a'), ['a header value cannot begin or end with white space'])
  t.same(problems({ in: 'header', explode: true }, { 'a=': 1 }), ['the name of a property cannot contain "="'])
  t.same(problems({ in: 'path' }, []), ['a path cannot contain an empty array'])
  t.same(problems({ in: 'path' }, {}), ['a path cannot contain an empty object'])
  t.same(problems({ in: 'header' }, []), [])
  t.equal(
    text({ style: 'pipeDelimited' }, ['a|b', 'c']),
    'a%20b=a%7Cb%7Cc',
    'a value that no style can hold is written',
  )
})

t.test('a parameter may be the whole query string', async (t) => {
  const written = (style: object, value: unknown) =>
    parameterPairs({ in: 'query', name: 'criteria', isWhole: true, ...style }, value, (problem) => {
      throw new TypeError(problem)
    })
      .map(pairText)
      .join('&')
  const fields = { near: { style: 'deepObject' }, sizes: { explode: false } }
  t.equal(
    written({ fields }, { id: 2n ** 63n, tags: ['a', 'b& c'], sizes: [1, 2], near: { at: [1.5] }, raw: { id: 1n } }),
    'id=9223372036854775808&tags=a&tags=b%26%20c&sizes=1,2&near%5Bat%5D%5B0%5D=1.5&raw=%7B%22id%22%3A1%7D',
  )
  t.equal(written({ isJson: true }, [{ id: 2n ** 63n }]), '%5B%7B%22id%22%3A9223372036854775808%7D%5D')
  t.equal(written({}, '[9223372036854775808]'), '%5B9223372036854775808%5D', 'a JSON text stays as it is')
  t.throws(() => written({ fields }, { near: { 'a]': 1 } }), {
    message: 'query/criteria/near: the name of a property cannot contain a bracket',
  })
})
