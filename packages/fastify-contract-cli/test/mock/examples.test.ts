import t from 'tap'
import { type Document, type Endpoint, endpoints } from '../../src/document/openapi-document.ts'
import { exampleBody, exampleHeaders, exampleResponse } from '../../src/examples/examples.ts'
import { exampleOf } from '../../src/examples/schema-values.ts'
import { preferredResponse } from '../../src/mock/mock-server.ts'

t.test('an example comes from the document or from the examples of its parts', async (t) => {
  const schemas = {
    Name: { type: 'string', examples: ['Monstera'] },
    Plant: { type: 'object', properties: { name: { $ref: '#/components/schemas/Name' }, tag: { type: 'string' } } },
    Shelf: { type: 'object', properties: { size: { example: 1 }, next: { $ref: '#/components/schemas/Shelf' } } },
    List: { type: 'array', items: { required: ['list'], properties: { list: { $ref: '#/components/schemas/List' } } } },
    Tree: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    New: { allOf: [{ $ref: '#/components/schemas/Plant' }, { properties: { id: { type: 'integer', example: 7 } } }] },
  }
  const document = { openapi: '3.1.0', info: { title: '', version: '' }, components: { schemas } } as Document
  const cases: [object | boolean, unknown][] = [
    [{ $ref: '#/components/schemas/New' }, { name: 'Monstera', tag: 'tag', id: 7 }],
    [{ $ref: '#/components/schemas/Name', default: 'x' }, 'Monstera'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['a']],
    [{ allOf: [{ enum: ['a', 'b'] }, { enum: ['c', 'b'] }] }, 'b'],
    [{ allOf: [{ enum: ['a'] }, { enum: ['c'] }] }, 'a'],
    [{ type: ['string', 'null'], allOf: [{ enum: ['a', null] }, { enum: [null] }] }, null],
    [{ type: 'array' }, []],
    [{ $ref: '#/components/schemas/Shelf' }, { size: 1 }],
    [{ $ref: '#/components/schemas/Tree' }, []],
    [{ $ref: '#/components/schemas/List' }, [{ list: [] }]],
    [{ type: ['integer', 'null'] }, 0],
    [{ const: [1] }, [1]],
    [{ oneOf: [{ type: 'string', default: 'd' }, { type: 'null' }] }, 'd'],
    [{ type: 'object', example: { a: 1 } }, { a: 1 }],
    [{}, {}],
    [
      { type: 'object', minProperties: 2, additionalProperties: { type: 'integer' } },
      { x: 0, xx: 0 },
    ],
    [
      { minProperties: 1, propertyNames: { pattern: '^a-' }, type: 'object', additionalProperties: { const: 1 } },
      { 'a-': 1 },
    ],
    [
      { type: 'object', minProperties: 2, patternProperties: { '^b+$': { const: 2 } }, additionalProperties: false },
      { b: 2, bb: 2 },
    ],
    [{ type: 'object', minProperties: 1, additionalProperties: false }, {}],
  ]
  for (const [schema, example] of cases) t.same(exampleOf(document, schema as never), example)
})

t.test('an example of parts has the boundary of its first line', async (t) => {
  const document = { openapi: '3.1.0', info: { title: '', version: '' } } as Document
  const bodyOf = (media: object) => {
    const { contentType, body } = exampleBody(document, { content: { 'multipart/mixed': media } } as never)
    return [contentType, String(body)]
  }
  const empty = ['multipart/mixed; boundary=example', '--example--\r\n']
  t.same(bodyOf({}), empty)
  t.same(bodyOf({ schema: { type: 'object', properties: { a: { type: 'string' } } } }), empty)
  t.same(bodyOf({ example: 'text' }), empty)
  const example = '--next:1\r\n\r\na\r\n--next:1--\r\n'
  t.same(bodyOf({ example }), ['multipart/mixed; boundary="next:1"', example])
})

t.test('an example has no optional Content-Encoding, since its body is not encoded', async (t) => {
  const header = (value: string, required = false) => ({ required, schema: { type: 'string' }, example: value })
  const headersOf = (headers: object) => {
    const responses = { A: { headers } }
    const document = { openapi: '3.1.0', info: { title: '', version: '' }, components: { responses } } as Document
    return exampleHeaders(document, { ...responses.A, pointer: '#/components/responses/A' } as never)
  }
  t.same(headersOf({ 'content-Encoding': header('gzip'), 'X-A': header('a') }), { headers: { 'X-A': 'a' } })
  t.same(headersOf({ 'Content-Encoding': header('gzip') }), {})
  t.same(headersOf({ 'Content-Encoding': header('gzip', true) }), { headers: { 'Content-Encoding': 'gzip' } })
})

t.test('Prefer selects a response by status, range or default, and by the name of an example', async (t) => {
  const examples = { first: { value: 'one' }, second: { $ref: '#/components/examples/Second' } }
  const content = (media: object) => ({ content: { 'application/json': media } })
  const document = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {
      '/a': {
        get: {
          operationId: 'a',
          responses: {
            200: content({ examples }),
            '4XX': content({ example: 4 }),
            default: content({ schema: { type: 'boolean' } }),
          },
        },
        put: {
          operationId: 'b',
          responses: { 204: { headers: { 'X-A': { schema: { type: 'integer', examples: [1] } } } } },
        },
      },
    },
    components: { examples: { Second: { value: 'two' } } },
  } as unknown as Document
  const [get, put] = endpoints(document) as [Endpoint, Endpoint]
  const cases: [Endpoint, string, unknown][] = [
    [get, '', undefined],
    [get, 'example=second', [200, 'two', 'example=second']],
    [get, 'example="second", code=200', [200, 'two', 'code=200, example=second']],
    [get, 'code=200', [200, 'one', 'code=200']],
    [get, 'code=200, example=toString', [200, 'one', 'code=200']],
    [get, 'code=418, example=second', [418, 4, 'code=418']],
    [get, 'code=500', [500, false, 'code=500']],
    [get, 'code=100', undefined],
    [put, 'code=200', undefined],
    [put, 'code=204', [204, undefined, 'code=204']],
  ]
  for (const [endpoint, prefer, expected] of cases) {
    const reply = preferredResponse(document, endpoint, prefer)
    t.same(reply && [reply.outcome.status, reply.outcome.body, reply.applied], expected, prefer)
  }
  t.same(preferredResponse(document, put, 'code=204')?.outcome.headers, { 'X-A': 1 })
})

t.test('the mock returns the first successful response', async (t) => {
  const content = (example: object) => ({ content: { 'application/json': example } })
  const reply = (responses: object) => {
    const document = {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      paths: { '/a': { get: { operationId: 'a', responses } } },
      components: { examples: { Kept: { value: 'kept' } } },
    } as Document
    return exampleResponse(document, endpoints(document)[0] as Endpoint)
  }
  t.same(reply({ 404: {}, 201: content({ example: 1 }) }), { status: 201, body: 1 })
  t.same(reply({ 204: {} }), { status: 204, body: undefined })
  t.same(reply({ '2XX': content({ examples: { kept: { $ref: '#/components/examples/Kept' } } }) }), {
    status: 200,
    body: 'kept',
  })
  t.same(reply({ default: content({ schema: { type: 'boolean' } }) }), { status: 200, body: false })
})
