import t from 'tap'
import { basePaths } from '../../src/compile/document/openapi-document.ts'

t.test('operations are served below the paths of their servers', async (t) => {
  const cases: [url: string, path: string][] = [
    ['https://example.com', ''],
    ['https://example.com/', ''],
    ['https://example.com/v1/', '/v1'],
    ['{scheme}://{host}:{port}/v1', '/v1'],
    ['//example.com/v1', '/v1'],
    ['/', ''],
    ['/v1/a', '/v1/a'],
    ['v1', '/v1'],
    ['none/', '/none'],
    ['api.example.com/v1', 'api.example.com/v1'],
    ['localhost/v1', 'localhost/v1'],
  ]
  for (const [url, path] of cases) t.same(basePaths([{ url }]), [path], url)
  t.same(basePaths([]), [''])
  t.same(basePaths([{ url: '/a' }, { url: 'http://b/a' }, { url: '/b' }]), ['/a', '/b'])
})

t.test('a server variable expands to each of its values', async (t) => {
  const variables = { stage: { default: 'a', enum: ['a', 'b'] }, version: { default: 'v1' } }
  t.same(basePaths([{ url: '/{stage}/{version}', variables }]), ['/a/v1', '/b/v1'])
  t.same(basePaths([{ url: 'https://{stage}.example.com/{version}', variables }]), ['/v1'])
})
