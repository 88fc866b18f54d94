import t from 'tap'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { asOpenApi31 } from '../../src/passes/openapi-3-1.ts'
import { checkDocument } from '../../src/rules/check-document.ts'

const translated = (schema: object) => {
  const document = { openapi: '3.0.4', components: { schemas: { nullable: schema } } }
  return (asOpenApi31(document) as typeof document).components.schemas.nullable
}

t.test('schemas of 3.0 keep their meaning in 3.1', async (t) => {
  const cases: [object, object][] = [
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [{ type: 'string', nullable: false }, { type: 'string' }],
    [{ nullable: true }, {}],
    [{ $ref: '#/a', nullable: true, description: 'b' }, { $ref: '#/a' }],
    [
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    [{ exclusiveMinimum: true }, {}],
    [
      { items: { type: 'integer', nullable: true }, default: { nullable: true } },
      { items: { type: ['integer', 'null'] }, default: { nullable: true } },
    ],
    [
      { properties: { nullable: { type: 'string', nullable: true }, enum: { type: 'string', nullable: true } } },
      { properties: { nullable: { type: ['string', 'null'] }, enum: { type: ['string', 'null'] } } },
    ],
    [
      { enum: [{ nullable: true }, null], allOf: [{ type: 'object', nullable: true }] },
      { enum: [{ nullable: true }, null], allOf: [{ type: ['object', 'null'] }] },
    ],
  ]
  for (const [schema, expected] of cases) t.same(translated(schema), expected)
})

t.test('a document of 3.1 is unchanged', async (t) => {
  const document = { openapi: '3.1.1', components: { schemas: { A: { $ref: '#/b', title: 'A' } } } }
  t.equal(asOpenApi31(document), document)
})

t.test('upgrading twice changes nothing, siblings of a $ref included', async (t) => {
  const document = asOpenApi31({ openapi: '3.0.4', components: { schemas: { A: { type: 'string', nullable: true } } } })
  t.match(document, { openapi: '3.1.0', components: { schemas: { A: { type: ['string', 'null'] } } } })
  t.equal(asOpenApi31(document), document)
})

const document = (paths: Record<string, object>, components: object = {}): Document => ({
  openapi: '3.2.0',
  info: { title: 'Boxes', version: '1.0.0' },
  paths,
  components,
})
const responses = { 204: { description: 'Done.' } }

t.test('operations of additional methods have names, types and handlers', async (t) => {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
  const item = {
    parameters,
    query: { requestBody: { required: true, content: { 'application/json': {} } }, responses },
    additionalOperations: { 'M-SEARCH': { responses }, COPY: { responses } },
  }
  const compiled = await compileDocument(
    document({ '/boxes/{id}': { $ref: '#/components/pathItems/Box' } }, { pathItems: { Box: item } }),
    'boxes',
  )
  const { contract, files } = compiled
  const names = ['queryBoxesById', 'mSearchBoxesById', 'copyBoxesById']
  t.same(
    contract.routes.operations.map(({ operationId, method }) => [operationId, method]),
    [
      ['queryBoxesById', 'QUERY'],
      ['mSearchBoxesById', 'M-SEARCH'],
      ['copyBoxesById', 'COPY'],
    ],
  )
  t.notMatch(files['api.d.ts'], /"(QUERY|M-SEARCH|COPY) /, 'no name is left that is no path')
  const handlers = handlerStubs(compiled, undefined)
  for (const [index, name] of names.entries()) {
    const handler = `takes (body, )?path\\.id\n  async ${name}\\(\\).*\\{\n    // The response has no body\\.\n    return \\{ status: 204`
    t.match(handlers[index], new RegExp(handler))
  }
})

t.test('the dataValue of an example becomes its value', (t) => {
  const content = { 'application/json': { examples: { first: { dataValue: [1], serializedValue: '[1]' } } } }
  const before = document({ '/boxes': { post: { requestBody: { content }, responses } } })
  const [endpoint] = endpoints(normalizedDocument(before))
  t.match(endpoint?.requestBody, { content: { 'application/json': { examples: { first: { value: [1] } } } } })
  t.end()
})

t.test('a media type may be a reference', (t) => {
  const mediaTypes = { A: { $ref: '#/components/mediaTypes/B' }, B: { schema: { type: 'string' } } }
  const content = { 'application/json': { $ref: '#/components/mediaTypes/A' } }
  const before = document({ '/boxes': { post: { requestBody: { content }, responses } } }, { mediaTypes })
  const [endpoint] = endpoints(normalizedDocument(before))
  t.same(endpoint?.requestBody?.content, { 'application/json': { schema: { type: 'string' } } })
  t.end()
})

t.test('an event schema describes its data', (t) => {
  const data = (itemSchema: unknown) => {
    const content = { 'text/event-stream': { itemSchema } }
    const before = document({ '/boxes': { get: { responses: { 200: { description: 'Events.', content } } } } })
    return endpoints(normalizedDocument(before))[0]?.responses[200]?.content?.['text/event-stream']
  }
  const event = (one: unknown) => ({ type: 'object', description: 'An event.', properties: { data: one } })
  const json = { type: 'string', contentMediaType: 'application/json' }
  t.same(data(event({ type: 'string', pattern: 'a' })), { schema: { type: 'string', pattern: 'a' } })
  t.same(data(event({ ...json, contentSchema: { type: 'integer' } })), { schema: { type: 'integer' } })
  t.same(data(event(json)), { schema: true })
  t.same(data({ properties: {} }), { schema: true })
  for (const other of [true, { oneOf: [] }, { properties: { data: true, color: { type: 'string' } } }])
    t.same(data(other), { schema: true, itemSchema: other })
  const named = { required: ['data', 'id'], properties: { data: { type: 'integer' }, event: { const: 'added' } } }
  t.same(data(named), { schema: { type: 'integer' }, itemSchema: named })
  t.end()
})

t.test('items that are not described in a supported way are not validated, with a warning', (t) => {
  const warnings = (mediaType: string, media: object) => {
    const requestBody = { content: { [mediaType]: media } }
    const before = document({ '/boxes': { post: { operationId: 'a', requestBody, responses } } })
    const found = checkDocument(before, asOpenApi31(before))
    t.same(found.rejected, [])
    const [endpoint] = endpoints(normalizedDocument(before))
    const lines = found.warnings.map((line) => line.replace(/^.*?content\/?[^/:]*\/?/, ''))
    return [endpoint?.requestBody?.content[mediaType]?.schema, ...lines]
  }
  const integer = { type: 'integer' }
  const lines = { itemSchema: integer, schema: { type: 'array', minItems: 2 } }
  t.same(warnings('application/jsonl', lines), [
    integer,
    'itemSchema: the schema beside it is ignored; describe either the items or the whole body',
  ])
  const ofEvents =
    'itemSchema: is applied to the data of an event only; describe only data, event, id and retry, without a schema beside it'
  const event = { properties: { data: integer } }
  t.same(warnings('text/event-stream', { itemSchema: event, schema: {} }), [integer, ofEvents])
  t.same(warnings('text/event-stream', { itemSchema: { oneOf: [event] } }), [true, ofEvents])
  t.same(warnings('text/event-stream', { itemSchema: { ...event, required: ['id'] } }), [integer, ofEvents])
  t.same(warnings('application/json', { itemSchema: integer }), [
    undefined,
    'itemSchema: is ignored, since items of application/json are not read one by one; use application/jsonl, application/json-seq or text/event-stream',
  ])
  t.same(warnings('multipart/mixed', { prefixEncoding: [{}], itemEncoding: {} }).slice(1), [
    ': multipart/mixed is not parsed: a handler gets its bytes, and the boundary in the Content-Type of the request',
    'prefixEncoding: is ignored, since parts without names are not parsed',
    'itemEncoding: is ignored, since parts without names are not parsed',
  ])
  t.end()
})

t.test('a circular event schema is rejected with its location', async (t) => {
  const schemas = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } }
  const content = { 'text/event-stream': { itemSchema: schemas.A } }
  const paths = { '/boxes': { get: { responses: { 200: { description: 'Events.', content } } } } }
  await t.rejects(compileDocument(document(paths, { schemas }), 'boxes'), {
    message: /#\/components\/schemas\/A\/.* refers back to itself/,
  })
})

t.test('a default mapping that is the only alternative accepts every name', async (t) => {
  const discriminator = { propertyName: 'kind', defaultMapping: 'Cat' }
  const schemas = {
    Cat: { type: 'object', properties: { kind: { type: 'string' } } },
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }], discriminator },
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } }
  const paths = { '/boxes': { post: { requestBody: { content }, responses } } }
  const { contract } = await compileDocument(document(paths, { schemas }), 'boxes')
  t.same(contract.routes.schemas.Pet, { oneOf: [{ $ref: 'Cat#' }] })
})

t.test('generating ignores values that are not types', async (t) => {
  const examples = { far: { externalValue: 'https://example.invalid/box.json' } }
  const links = { lost: { $ref: '#/components/links/None' } }
  const content = { 'application/json': { schema: { type: 'string' }, examples } }
  const paths = { '/boxes': { get: { responses: { 200: { description: 'Found.', content, links } } } } }
  t.match((await compileDocument(document(paths), 'boxes')).files['api.d.ts'], 'getBoxes')
})

t.test('null is allowed only if the type and the enum both allow it', async (t) => {
  const cases: [schema: object, expected: object][] = [
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: 'string', enum: ['a'] },
    ],
    [
      { type: 'string', nullable: true, enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { type: 'string', enum: ['a', null] },
      { type: 'string', enum: ['a'] },
    ],
    [
      { type: 'string', enum: [null] },
      { type: 'string', enum: [null] },
    ],
    [{ nullable: true, enum: ['a'] }, { enum: ['a'] }],
  ]
  for (const [schema, expected] of cases) t.strictSame(translated(schema), expected, JSON.stringify(schema))
  const since31: [schema: object, expected: object][] = [
    [
      { type: ['string', 'null'], enum: ['a'] },
      { type: 'string', enum: ['a'] },
    ],
    [
      { type: ['string', 'integer', 'null'], const: 1 },
      { type: ['string', 'integer'], const: 1 },
    ],
    [
      { type: 'string', const: null },
      { type: 'string', const: null },
    ],
    [
      { type: ['null'], enum: ['a'] },
      { type: ['null'], enum: ['a'] },
    ],
    [
      { type: ['string', 'null'], const: null },
      { type: ['string', 'null'], const: null },
    ],
  ]
  for (const [schema, expected] of since31) {
    const document = asOpenApi31({ openapi: '3.1.0', components: { schemas: { A: schema } } })
    t.strictSame(document.components.schemas.A, expected, JSON.stringify(schema))
  }
})

t.test('null is allowed beside allOf, anyOf or oneOf only if these allow it', async (t) => {
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const typeOf = (beside: object) => {
    const schemas = {
      A: { type: 'object' },
      N: { type: 'object', nullable: true },
      T: { type: 'object', nullable: true, ...beside },
    }
    const content = { 'application/json': { schema: to('T') } }
    const paths = { '/a': { get: { responses: { 200: { description: '', content } } } } }
    const document = { openapi: '3.0.3', info: { title: 'T', version: '1.0.0' }, paths, components: { schemas } }
    const { components } = normalizedDocument(document as unknown as Document) as unknown as typeof document
    return (components.schemas.T as { type: unknown }).type
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    t.equal(typeOf({ [keyword]: [to('A')] }), 'object', keyword)
    t.same(typeOf({ [keyword]: [to('N')] }), ['object', 'null'], keyword)
    t.same(typeOf({ [keyword]: [{}] }), ['object', 'null'], keyword)
  }
  t.same(typeOf({ anyOf: [to('A'), to('N')] }), ['object', 'null'])
})
