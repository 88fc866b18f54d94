import t from 'tap'
import { withDirections } from '../../src/document/directions.ts'
import { resolve } from '../../src/document/json-pointer.ts'
import { type Document, type Endpoint, endpoints } from '../../src/document/openapi-document.ts'
import { exampleResponse } from '../../src/examples/examples.ts'
import { asOpenApi31 } from '../../src/passes/openapi-3-1.ts'
import { checkDocument } from '../../src/rules/check-document.ts'

const text = { type: 'string' }
const readOnly = { ...text, readOnly: true }
const writeOnly = { ...text, writeOnly: true }
const ignored = { 'x-ignored': true }
const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const exchange = (schema: object) => ({ requestBody: json(schema), responses: { 200: json(schema) } })
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

function directed(operation: object, schemas: object = {}, more: object = {}): Document {
  const { components, ...others } = more as { components?: object }
  const paths = { '/a': { post: { operationId: 'a', ...operation } } }
  const info = { title: '', version: '' }
  return withDirections({ openapi: '3.1.0', info, paths, components: { ...components, schemas }, ...others })
}

const taken = '#/paths/~1a/post/requestBody/content/application~1json/schema'
const answered = '#/paths/~1a/post/responses/200/content/application~1json/schema'

t.test('a document without readOnly and writeOnly is unchanged', async (t) => {
  const document = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} }
  t.equal(withDirections(document), document)
})

t.test('shared schemas get variants, with unused names, only where they differ', async (t) => {
  const document = directed(exchange(to('A')), {
    A: object({ id: readOnly, b: to('B'), c: to('C') }),
    B: object({ key: writeOnly, a: to('A') }),
    C: object({ name: text }),
    'A.request': text,
  })
  t.same(resolve(document, taken), to('A.request-2'))
  t.same(resolve(document, answered), to('A.response'))
  const { schemas } = document.components as { schemas: object }
  t.match(schemas, {
    'A.request-2': object({ id: ignored, b: to('B.request'), c: to('C') }),
    'B.request': object({ key: writeOnly, a: to('A.request-2') }),
    'A.response': object({ id: readOnly, b: to('B.response'), c: to('C') }),
    'B.response': object({ key: ignored, a: to('A.response') }),
  })
  t.same(Object.keys(schemas).sort(), [
    'A',
    'A.request',
    'A.request-2',
    'A.response',
    'B',
    'B.request',
    'B.response',
    'C',
  ])
})

t.test('operations of additionalOperations have both directions', async (t) => {
  const copy = exchange(object({ id: readOnly, key: writeOnly }))
  const paths = { '/a': { additionalOperations: { COPY: copy } } }
  const document = directed(exchange(text), {}, { openapi: '3.2.0', paths })
  const at = '#/paths/~1a/additionalOperations/COPY'
  t.same(resolve(document, taken.replace('#/paths/~1a/post', at)), object({ id: ignored, key: writeOnly }))
  t.same(resolve(document, answered.replace('#/paths/~1a/post', at)), object({ id: readOnly, key: ignored }))
})

t.test('required, dependentRequired and examples drop ignored properties', async (t) => {
  const schema = object(
    { id: readOnly, name: text },
    {
      required: ['id', 'name'],
      dependentRequired: { name: ['id'], other: ['id', 'name'] },
      example: { id: '1', name: 'a' },
      examples: [{ id: '1' }, 'a'],
      default: { id: '1' },
    },
  )
  t.same(resolve(directed(exchange(schema)), taken), {
    ...object({ id: ignored, name: text }),
    required: ['name'],
    dependentRequired: { name: [], other: ['name'] },
    example: { name: 'a' },
    examples: [{}, 'a'],
    default: {},
  })
})

t.test('no schema depends on an ignored property, even through a $ref', async (t) => {
  const dependent = {
    dependentRequired: { id: ['name'], name: ['other'] },
    dependentSchemas: { id: { required: ['other'] }, name: { required: ['id', 'other'] } },
  }
  const kept = { dependentRequired: { name: ['other'] }, dependentSchemas: { name: { required: ['other'] } } }
  const schema = object({ id: readOnly, name: text }, dependent)
  t.same(resolve(directed(exchange(schema)), taken), object({ id: ignored, name: text }, kept))
  const required = { id: { required: ['name'] } }
  for (const Base of [
    { dependentRequired: { id: ['name'] } },
    { dependentSchemas: required },
    { dependencies: required },
  ]) {
    const document = directed(exchange({ allOf: [to('Base'), object({ id: readOnly })] }), { Base })
    t.same(resolve(document, taken), { allOf: [to('Base.request'), object({ id: ignored })] })
    t.same(Object.values(resolve(document, '#/components/schemas/Base.request') as object), [{}])
  }
})

t.test('a base of an allOf requires less only where another part ignores the property', async (t) => {
  const schemas = { Base: object({}, { required: ['id', 'name'] }), Other: object({ base: to('Base') }) }
  const document = directed(
    exchange({ allOf: [to('Base'), object({ id: { allOf: [to('Id')], readOnly: true }, base: to('Base') })] }),
    { ...schemas, Id: text },
  )
  t.same(resolve(document, taken), { allOf: [to('Base.request'), object({ id: ignored, base: to('Base') })] })
  t.same(resolve(document, '#/components/schemas/Base.request/required'), ['name'])
})

t.test('a property that some alternatives mark readOnly is ignored in these, one of all everywhere', async (t) => {
  const alternative = (id: object, both: object) => object({ id, both }, { required: ['id', 'both'] })
  const schema = (id: object) => ({
    required: ['id', 'both'],
    oneOf: [alternative(readOnly, readOnly), alternative(id, readOnly)],
  })
  t.same(resolve(directed(exchange(schema(text))), taken), {
    required: ['id'],
    oneOf: [object({ id: ignored, both: ignored }), object({ id: text, both: ignored }, { required: ['id'] })],
  })
  t.same(Object.keys(resolve(directed(exchange(schema(readOnly))), taken) as object), ['oneOf'])
})

t.test('conditions and discriminator properties are unchanged', async (t) => {
  const tests = { not: { required: ['id'] }, if: { required: ['id'] } }
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const schema = object({ id: readOnly }, { ...tests, then: { required: ['id'] }, contains: {} })
  t.same(resolve(directed(exchange(schema)), taken), {
    ...object({ id: ignored }, tests),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {},
    contains: {},
  })
  const union = { oneOf: [to('A')], discriminator: { propertyName: 'kind' } }
  const document = directed(exchange({ allOf: [union], properties: { a: to('A') } }), {
    A: object({ kind: readOnly, id: readOnly }),
  })
  t.same(resolve(document, `${taken}/allOf/0/oneOf/0`), to('A.request'))
  t.same(resolve(document, `${taken}/properties/a`), to('A.request-2'), 'without the union there is no discriminator')
  t.match(resolve(document, '#/components/schemas/A.request'), object({ kind: readOnly, id: ignored }))
  t.match(resolve(document, '#/components/schemas/A.request-2'), object({ kind: ignored, id: ignored }))
})

t.test('requests and responses get their own direction', async (t) => {
  const schema = object({ id: readOnly, key: writeOnly })
  const sent = object({ id: ignored, key: writeOnly })
  const returned = object({ id: readOnly, key: ignored })
  const header = { schema }
  const parameters = [
    { name: 'p', in: 'query', schema },
    { name: 'q', in: 'query', ...json(schema) },
  ]
  const own = {
    parameters,
    requestBody: { content: { 'multipart/a': { schema, encoding: { a: { headers: { h: header } } } } } },
    responses: { 200: { headers: { h: header }, ...json(schema) } },
  }
  const callback = { '{$url}': { post: own } }
  const components = {
    parameters: { p: parameters[0] },
    requestBodies: { b: json(schema) },
    responses: { r: json(schema) },
    headers: { h: header },
    pathItems: { i: { post: own } },
    callbacks: { c: callback },
    examples: { e: { value: schema } },
  }
  const document = directed(
    { ...own, callbacks: { c: callback, r: { $ref: '#/components/callbacks/c' } } },
    {},
    { components, webhooks: { w: { parameters, post: own } } },
  )
  const ofOperation = (taken: object, answered: object) => ({
    parameters: [{ schema: taken }, json(taken)],
    requestBody: {
      content: { 'multipart/a': { schema: taken, encoding: { a: { headers: { h: { schema: taken } } } } } },
    },
    responses: { 200: { headers: { h: { schema: answered } }, ...json(answered) } },
  })
  t.match(document, {
    paths: {
      '/a': {
        post: {
          ...ofOperation(sent, returned),
          callbacks: {
            c: { '{$url}': { post: ofOperation(returned, sent) } },
            r: { $ref: '#/components/callbacks/c' },
          },
        },
      },
    },
    webhooks: { w: { parameters: [{ schema: returned }, json(returned)], post: ofOperation(returned, sent) } },
    components: {
      parameters: { p: { schema: sent } },
      requestBodies: { b: json(sent) },
      responses: { r: json(returned) },
      headers: { h: { schema: returned } },
      pathItems: { i: { post: ofOperation(sent, returned) } },
      callbacks: { c: { '{$url}': { post: ofOperation(returned, sent) } } },
      examples: { e: { value: schema } },
    },
  })
})

t.test('an example of a response has no writeOnly property', async (t) => {
  const schema = object({ id: readOnly, key: writeOnly }, { required: ['id', 'key'] })
  const document = directed(exchange(schema))
  t.same(exampleResponse(document, endpoints(document)[0] as Endpoint), { status: 200, body: { id: 'id' } })
})

t.test('a long chain of schemas does not exhaust the stack', async (t) => {
  const count = 5_000
  const schemas = Array.from({ length: count }, (_, index) => [
    `S${index}`,
    object({ id: readOnly, ...(index + 1 < count && { next: to(`S${index + 1}`) }) }),
  ])
  const document = directed(exchange(to('S0')), Object.fromEntries(schemas))
  t.match(resolve(document, `#/components/schemas/S${count - 2}.request/properties`), {
    id: ignored,
    next: to(`S${count - 1}.request`),
  })
})

const documentOf = (schemas: object, openapi = '3.1.0', more: object = {}): Document => ({
  openapi,
  info: { title: '', version: '' },
  components: { schemas, ...more },
})

const at = '#/components/schemas'
const secret = { type: 'object', properties: { secret: { writeOnly: true } } }

t.test('a property that is both readOnly and writeOnly is in neither direction, with a warning', async (t) => {
  const both = {
    Id: { readOnly: true },
    A: {
      properties: { id: { ...to('Id'), writeOnly: true }, own: { readOnly: true, writeOnly: true }, one: to('Id') },
    },
    B: { 'x-ignored': true },
  }
  const nowhere = 'is both readOnly and writeOnly, so requests ignore it and no response has it; remove one of them'
  const { rejected, warnings } = checkDocument(documentOf(both))
  t.same(rejected, [`${at}/B/x-ignored: is reserved for generated schemas; rename it`])
  t.same(warnings, [`${at}/A/properties/id: ${nowhere}`, `${at}/A/properties/own: ${nowhere}`])
  const document = directed(
    exchange(object({ own: { readOnly: true, writeOnly: true }, name: text }, { required: ['own'] })),
  )
  for (const place of [taken, answered])
    t.same(resolve(document, place), object({ own: ignored, name: text }), 'neither direction requires it')
})

t.test('alternatives must agree about what is writeOnly', async (t) => {
  const shown = { properties: { secret: {} } }
  const problem = (place: string) =>
    `${at}/${place}: secret is writeOnly in one alternative and not in another, so a response could ` +
    'expose it; describe it the same way in each'
  const unlike = {
    Secret: secret,
    A: { oneOf: [to('Secret'), shown] },
    B: { anyOf: [{ allOf: [shown] }, {}, to('Secret')] },
  }
  t.same(checkDocument(documentOf(unlike)).rejected, [problem('A/oneOf'), problem('B/anyOf')])
  const alike = {
    A: { oneOf: [secret, { ...secret, required: ['secret'] }, { properties: { other: {} } }] },
    B: { allOf: [secret], oneOf: [secret, shown] },
    C: { oneOf: [secret, shown], discriminator: { propertyName: 'secret' } },
    D: { anyOf: [{ properties: { secret: { readOnly: true } } }, shown] },
  }
  t.same(checkDocument(documentOf(alike)).rejected, [])
})

t.test('readOnly or writeOnly outside a property gives a warning', async (t) => {
  const schemas = {
    Id: { readOnly: true },
    A: { properties: { id: to('Id'), wrapped: { allOf: [to('Id')] } }, allOf: [secret] },
    B: { items: to('Id'), additionalProperties: { writeOnly: true }, oneOf: [{ readOnly: false }] },
  }
  const requestBodies = { B: { content: { 'application/json': { schema: to('Id') } } } }
  const warning = (place: string, mark: string) =>
    `#/components/${place}: ${mark} has no effect here; set it on a property`
  t.same(checkDocument(documentOf(schemas, '3.1.0', { requestBodies })).warnings, [
    warning('schemas/B/items', 'readOnly'),
    warning('schemas/B/additionalProperties', 'writeOnly'),
    warning('requestBodies/B/content/application~1json/schema', 'readOnly'),
  ])
})

t.test('minProperties or maxProperties that count ignored properties give a warning', async (t) => {
  const id = { type: 'string', readOnly: true }
  const schemas = {
    A: { allOf: [secret], properties: { id }, maxProperties: 2, minProperties: 1 },
    B: { properties: { name: {} }, maxProperties: 2 },
  }
  t.same(
    checkDocument(documentOf(schemas)).warnings,
    ['maxProperties', 'minProperties'].map(
      (keyword) => `${at}/A/${keyword}: counts id, secret when it is sent, although the service ignores it`,
    ),
  )
})

t.test('nullable without a type gives a warning in 3.0 with a fix', async (t) => {
  const wrapped = { nullable: true, allOf: [to('A')] }
  const schemas = {
    A: { type: 'string', nullable: true },
    B: { properties: { wrapped, bare: { nullable: true, enum: ['a'] }, not: { nullable: false, allOf: [to('A')] } } },
    C: { ...to('A'), nullable: true },
    D: { type: 'string', nullable: true, enum: ['a'] },
  }
  const ineffective = 'nullable has no effect without a type in the same schema; to allow null,'
  const wrapping = 'use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
  t.same(checkDocument(documentOf(schemas, '3.0.3')).warnings, [
    `${at}/B/properties/wrapped: ${ineffective} ${wrapping}`,
    `${at}/B/properties/bare: ${ineffective} add the type`,
    `${at}/C: ${ineffective} ${wrapping}`,
    `${at}/D: nullable has no effect beside an enum without null; to allow null, add it to the enum`,
  ])
})

t.test('nullable is ignored in 3.1, with a warning', async (t) => {
  const document = documentOf({ A: { type: 'string', nullable: true }, B: { nullable: false } })
  const ignored = "nullable: belongs to OpenAPI 3.0 and is ignored; to allow null, add the type 'null'"
  t.same(checkDocument(document).warnings, [`${at}/A/${ignored}`, `${at}/B/${ignored}`])
  t.same((asOpenApi31(document).components as { schemas: object }).schemas, { A: { type: 'string' }, B: {} })
})
