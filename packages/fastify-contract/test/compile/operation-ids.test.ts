import t from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import { normalizedDocument } from '../../src/compile/document/normalize.ts'
import { type Document, endpoints } from '../../src/compile/document/openapi-document.ts'
import { handlerStubs } from '../../src/compile/emit/handler-stubs.ts'
import { checkDocument } from '../../src/compile/rules/check-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 200: { description: 'a', content: { 'application/json': { schema: { type: 'string' } } } } }
const documentOf = (paths: object, more: object = {}) =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }) as Document
const idsOf = (document: Document) => endpoints(document).map(({ operationId }) => operationId)

t.test('an operation without operationId is named after its method and path alone', async (t) => {
  const names: [path: string, name: string][] = [
    ['/', 'get'],
    ['/shelves/{shelf-id}/plants', 'getShelvesByShelfIdPlants'],
    ['/v1.2/find_pets/{id}.{format}', 'getV12FindPetsByIdByFormat'],
    ['/straße/{a}{b}', 'getStraßeByAByB'],
  ]
  const paths = Object.fromEntries(names.map(([path]) => [path, { get: { responses } }]))
  t.same(
    idsOf(documentOf(paths)),
    names.map(([, name]) => name),
  )
  t.same(idsOf(documentOf({ '/a': { post: { operationId: '', responses } } })), ['postA'])
})

t.test(
  'an operation with a derived name is typed, bound and served by that name, and a warning shows it',
  async (t) => {
    const components = { pathItems: { Item: { get: { responses }, delete: { operationId: 'drop', responses } } } }
    const item = { $ref: '#/components/pathItems/Item' }
    const put = { operationId: 'put', responses }
    const document = documentOf(
      { '/a/{id}': { ...item, summary: 'A' }, '/b': { put, post: { responses } } },
      { components },
    )
    t.same(checkDocument(document).warnings, [
      '#/paths/~1a~1%7Bid%7D/get: has no operationId; its handler is named getAById, after its method and path',
      '#/paths/~1b/post: has no operationId; its handler is named postB, after its method and path',
    ])
    t.same(idsOf(normalizedDocument(document)), ['getAById', 'drop', 'put', 'postB'])
    t.same(checkDocument(normalizedDocument(document)).warnings, [])
    const compiled = await compileDocument(document, 'a.yaml')
    const { 'api.d.ts': types = '', 'openapi.json': published = '' } = compiled.files
    t.match(types, /^ {4}getAById: \{$/m)
    t.notMatch(published, /getAById/, 'the published document is unchanged')
    t.match(handlerStubs(compiled, documentOf({ '/b': { put, post: { responses } } })), [/getAById\(/, /drop\(/])
    const answer = (body: string) => async () => ({ status: 200, body })
    const handlers = { getAById: answer('a'), drop: answer('d'), put: answer('p'), postB: answer('b') }
    const app = await serveDocument(document, { handlers })
    t.equal((await app.inject('/a/1')).body, '"a"')
    t.equal((await app.inject({ method: 'POST', url: '/b' })).body, '"b"')
  },
)
