import { join } from 'node:path'
import t from 'tap'
import { withDiscriminators } from '../../src/document/discriminators.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileContract, compileDocument } from '../../src/emit/compile.ts'
import { writeStale } from '../../src/emit/generated-files.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { exampleCalls } from '../../src/examples/example-calls.ts'
import { exampleOf } from '../../src/examples/schema-values.ts'
import { generatedContract, mockServer } from '../../src/mock/mock-server.ts'
import { roundedIntegers, withExactKeywords, withExactUnions } from '../../src/passes/exact-integers.ts'
import { serveDocument } from '../support/serve-document.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = { type: 'object' }

/** Returns the names that each schema allows in `kind` after its discriminators were applied. */
function names(schemas: Record<string, object>): Record<string, unknown> {
  const document: Document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' }, components: { schemas } }
  const { schemas: narrowed } = withDiscriminators(document).components as {
    schemas: Record<string, { allOf?: object[] }>
  }
  return Object.fromEntries(
    Object.entries(narrowed).flatMap(([name, { allOf = [] }]) => {
      const last = allOf.at(-1) as { properties?: { kind?: { enum: string[] } }; required?: string[] } | undefined
      return last?.properties?.kind === undefined ? [] : [[name, last.properties.kind.enum]]
    }),
  )
}

t.test('a document without a discriminator is unchanged', async (t) => {
  const document: Document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' } }
  t.same(withDiscriminators(document), document)
  t.same(names({ A: { properties: { discriminator: { type: 'string' } } } }), {})
})

/** Returns the names that each alternative of a union allows in `kind`. */
function namesIn(union: object, schemas: Record<string, object> = {}): unknown[] {
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    components: { schemas: { A: object, B: object, ...schemas, Union: union } },
  }
  const { Union, ...others } = (withDiscriminators(document).components as { schemas: Record<string, Alternatives> })
    .schemas
  t.match(others, schemas, 'the alternatives stay as they are')
  return [Union?.oneOf, Union?.anyOf].flatMap((list = []) =>
    list.map(({ allOf = [] }) => allOf[1]?.properties.kind.enum),
  )
}

type Narrowed = { allOf?: { properties: { kind: { enum: string[] } } }[] }
type Alternatives = { oneOf?: Narrowed[]; anyOf?: Narrowed[] }

t.test('each alternative allows its own discriminator values, and their union allows all', async (t) => {
  const mapping = { a: '#/components/schemas/A', aa: 'A', other: 'https://example.com/c' }
  const discriminator = { propertyName: 'kind', mapping }
  const all = [ref('A'), ref('B'), object, true, { $ref: '#/components/responses/C' }]
  t.same(namesIn({ oneOf: all, discriminator }), [['a', 'aa'], ['B'], undefined, undefined, undefined])
  t.same(namesIn({ anyOf: [ref('A'), ref('B')], discriminator: { propertyName: 'kind' } }), [['A'], ['B']])
  t.same(namesIn({ type: 'object', discriminator }), [])
})

t.test("a nested union has the mapping's names of its members", async (t) => {
  const schemas = { Pair: { oneOf: [ref('A'), object] } }
  const union = (mapping?: object) => ({
    oneOf: [ref('Pair'), ref('B')],
    discriminator: { propertyName: 'kind', mapping },
  })
  t.same(namesIn(union({ a: '#/components/schemas/A' }), schemas), [['a'], ['B']])
  t.same(namesIn(union({ a: 'A', pair: 'Pair' }), schemas), [['pair', 'a'], ['B']])
  t.same(namesIn(union(), schemas), [['Pair'], ['B']])
  // The prefix has the length of "#/components/schemas/", so the remaining text looks like the name of a schema.
  const elsewhere = { Pair: { oneOf: [{ $ref: '#/components/headers/A' }] } }
  t.equal('#/components/headers/'.length, '#/components/schemas/'.length)
  t.same(namesIn(union({ a: 'A', pair: 'Pair' }), elsewhere), [['pair'], ['B']])
})

t.test("a schema that inherits a discriminator allows its own name and its children's", async (t) => {
  const schemas = {
    Animal: { ...object, discriminator: { propertyName: 'kind', mapping: { dog: 'Dog' } } },
    Dog: { allOf: [ref('Animal')] },
    Poodle: { allOf: [ref('Dog'), object] },
    Circle: { allOf: [ref('Dog'), ref('Circle')] },
  }
  t.same(names(schemas), { Dog: ['dog', 'Poodle', 'Circle'], Poodle: ['Poodle'], Circle: ['Circle'] })
})

t.test('a discriminator value is a const or enum of the schema if its name is not among them', async (t) => {
  const kind = (schema: object) => ({ type: 'object', properties: { kind: schema } })
  const schemas = {
    A: { allOf: [kind({ const: 'a' }), object] },
    B: kind({ $ref: '#/components/schemas/Kind' }),
    Kind: { enum: ['b', 'bb'] },
    Pair: { oneOf: [ref('A'), kind({ enum: ['c'] })] },
    Open: { oneOf: [ref('A'), object] },
    None: { allOf: [kind({ const: 'x' }), kind({ const: 'y' })] },
    Itself: { anyOf: [ref('Itself')] },
  }
  const union = (names: string[], mapping?: object) => ({
    oneOf: names.map(ref),
    discriminator: { propertyName: 'kind', mapping },
  })
  t.same(namesIn(union(['A', 'B']), schemas), [['a'], ['b', 'bb']])
  t.same(namesIn(union(['A', 'B'], { b: 'B', A: 'A' }), schemas), [['a'], ['b']], 'a mapping narrows')
  t.same(namesIn(union(['Pair', 'Open', 'None', 'Itself']), schemas), [['a', 'c'], ['Open'], ['None'], ['Itself']])
  const children = {
    Animal: { ...kind({ enum: ['dog', 'cat'] }), discriminator: { propertyName: 'kind' } },
    Dog: { allOf: [ref('Animal'), kind({ const: 'dog' })] },
    Cat: { allOf: [ref('Animal'), object] },
  }
  t.same(names(children), { Dog: ['dog'], Cat: ['dog', 'cat'] })
})

t.test('a second name of a parent is no child, unless the mapping names it', async (t) => {
  const alias = { nullable: true, description: 'A pet.', allOf: [ref('Animal')] }
  const animal = (mapping?: object) => ({ ...object, discriminator: { propertyName: 'kind', mapping } })
  const Dog = { allOf: [ref('Animal'), object] }
  t.same(names({ Animal: animal({ dog: 'Dog' }), Dog, Alias: alias }), { Dog: ['dog'] })
  t.same(names({ Animal: animal({ dog: 'Dog', a: 'Alias' }), Dog, Alias: alias }), { Dog: ['dog'], Alias: ['a'] })
  t.same(names({ Animal: animal(), Dog, Alias: alias }), { Dog: ['Dog'], Alias: ['Alias'] })
})

t.test('a mapping holds names, pointers and files', async (t) => {
  const mapping = {
    a: 'A',
    b: './schemas/B.yaml',
    c: '#/components/schemas/C',
    d: 'animals.json#/components/schemas/D',
  }
  const all = ['A', 'B', 'C', 'D']
  const union = { oneOf: all.map(ref), discriminator: { propertyName: 'kind', mapping } }
  t.same(namesIn(union, { C: object, D: object }), [['a'], ['b'], ['c'], ['d']])
})

t.test('int64 values of a derived schema are exact if a schema refers only to its base schema', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const discriminator = { propertyName: 'kind', mapping: { dog: 'Dog' } }
  const schemas = {
    Animal: { ...object, required: ['kind'], discriminator, properties: { kind: { type: 'string' } } },
    'Animal.inherited': { type: 'string' },
    Dog: { allOf: [ref('Animal'), { required: ['chip'], properties: { chip: int64 } }] },
    Poodle: { allOf: [ref('Dog'), { properties: { curls: { ...int64, format: 'uint64' } } }] },
    Cat: { allOf: [ref('Animal'), { properties: { friend: ref('Pet'), other: { ...ref('Animal.inherited') } } }] },
    Cow: { allOf: [ref('Animal'), { required: ['milk'] }] },
    Pet: { description: 'Any animal.', allOf: [ref('Animal')] },
  }
  const content = { 'application/json': { schema: ref('Animal') } }
  const app = await serveDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Test', version: '1.0.0' },
      paths: {
        '/': {
          post: {
            operationId: 'add',
            requestBody: { required: true, content },
            responses: { 200: { description: 'd', content } },
          },
        },
      },
      components: { schemas },
    } as Document,
    { handlers: { add: async ({ body }: { body: unknown }) => ({ status: 200, body }) } } as never,
  )
  const statusOf = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/', headers, payload })
    if (response.statusCode === 200) t.equal(response.body, payload)
    return response.statusCode
  }
  const exact = [
    '{"kind":"dog","chip":9223372036854775807,"other":1}',
    '{"kind":"Poodle","chip":1152921504606846977,"curls":18446744073709551615}',
    '{"kind":"Cat","friend":{"kind":"dog","chip":-9223372036854775808},"other":"a"}',
    '{"kind":"Cow"}',
    '{"kind":"horse","chip":1.5}',
  ]
  for (const payload of exact) t.equal(await statusOf(payload), 200, payload)
  for (const payload of ['{"kind":"dog"}', '{"kind":"dog","chip":9223372036854775808}', '{"kind":"Poodle","chip":"1"}'])
    t.equal(await statusOf(payload), 400, payload)
})

t.test('a default mapping may name a schema that inherits at any distance', (t) => {
  const kind = { type: 'string', enum: ['cat', 'dog'] }
  const parent = (defaultMapping: string) => ({
    ...object,
    properties: { kind },
    discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: 'Dog' }, defaultMapping },
  })
  const schemas = {
    Pet: parent('Kitten'),
    Cat: { allOf: [ref('Pet')] },
    Kitten: { allOf: [ref('Cat'), { properties: { age: { type: 'integer', format: 'int64' } } }] },
    Dog: { allOf: [ref('Pet'), { required: ['kind'] }] },
  }
  const { Cat, Kitten, Pet } = Object(withDiscriminators(documentOf(schemas) as Document).components).schemas
  const open = { type: 'object', properties: { kind: { not: { enum: ['cat', 'dog'] } } } }
  t.match(Kitten.allOf.at(-1), open)
  t.notOk('required' in Kitten.allOf.at(-1))
  t.match(Cat.allOf.at(-1), { type: 'object', properties: { kind: { not: { enum: ['dog'] } } } })
  t.match(Pet.allOf.at(-1), {
    if: { required: ['kind'], properties: { kind: { enum: ['cat', 'dog'] } } },
    else: ref('Kitten'),
  })
  t.end()
})

const documentOf = (schemas: object) => ({ openapi: '3.1.0', paths: {}, components: { schemas } })

t.test('a limit beyond the doubles becomes an exact keyword, unless its schema has doubles', async (t) => {
  const limits = { minimum: -(2n ** 60n), maximum: 2n ** 60n - 1n }
  const long = { type: ['integer', 'null'], ...limits, exclusiveMaximum: 5 }
  t.strictSame(withExactKeywords(long), {
    type: ['integer', 'null'],
    'x-exact-minimum': '-1152921504606846976',
    'x-exact-maximum': '1152921504606846975',
    exclusiveMaximum: 5,
  })
  const doubles = { minimum: -(2 ** 60), maximum: 2 ** 60 }
  t.strictSame(withExactKeywords({ type: 'number', ...limits }), { type: 'number', ...doubles })
  t.strictSame(withExactKeywords({ type: 'integer', ...doubles }), { type: 'integer', ...doubles })
  t.strictSame(withExactKeywords({ type: 'string', maxLength: 2n ** 60n }), { type: 'string', maxLength: 2 ** 60 })
})

t.test('values beyond the doubles have exact keywords beside them', async (t) => {
  const large = 2n ** 60n - 1n
  const wide = { type: ['integer', 'null'], format: 'int64' }
  const schemas = {
    One: { ...wide, const: large },
    Some: { ...wide, enum: [5, large, null] },
    Steps: { ...wide, multipleOf: large },
    Default: { items: wide, default: [{ n: large }, 5] },
    Plain: { type: 'integer', enum: [large] },
    Unknown: { ...wide, enum: [large, 2 ** 61], default: 2 ** 61 },
    Double: { type: 'number', enum: [2 ** 61, large], default: 2 ** 61, multipleOf: 2 ** 61 },
  }
  t.strictSame(withExactKeywords(schemas.One), { ...wide, const: 2 ** 60, 'x-exact-const': '1152921504606846975' })
  t.strictSame(withExactKeywords(schemas.Some), {
    ...wide,
    enum: [5, 2 ** 60, null],
    'x-exact-enum': '5,1152921504606846975',
  })
  t.strictSame(withExactKeywords(schemas.Steps), { ...wide, 'x-exact-multipleOf': '1152921504606846975' })
  t.strictSame(withExactKeywords(schemas.Default), { items: wide, default: [{ n: 2 ** 60 }, 5] })
  t.strictSame(withExactKeywords(schemas.Double).enum, [2 ** 61, 2 ** 60])
  t.same(roundedIntegers(documentOf(schemas)), [
    { pointer: '#/components/schemas/Plain/enum/0', isShown: false, isWide: false },
    { pointer: '#/components/schemas/Unknown/enum/0', isShown: false, isWide: true },
    { pointer: '#/components/schemas/Unknown/enum/1', isShown: false, isWide: true },
    { pointer: '#/components/schemas/Unknown/default', isShown: false, isWide: true },
  ])
})

t.test('a parsed document has no digits, so an integer that is rounded in it is rejected', async (t) => {
  const schema = { type: 'integer', format: 'int64', enum: [2 ** 60, 5] }
  const responses = { 200: { description: '', content: { 'application/json': { schema } } } }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/': { get: { responses } } } }
  await t.rejects(
    compileDocument(document, 'openapi.yaml', {}, () => ''),
    { message: /schema\/enum\/0: an integer beyond 2\^53 - 1 whose digits are unknown/ },
  )
})

t.test('examples, requests, tools and the mock have the digits of the document', async (t) => {
  const directory = t.testdir({
    'openapi.yaml': `
      openapi: 3.1.0
      info: { title: Large, version: '1' }
      servers: [{ url: http://127.0.0.1 }]
      security: []
      paths:
        /ids/{id}:
          post:
            operationId: postId
            x-mcp: true
            parameters:
              - { name: id, in: path, required: true, schema: { type: integer, format: int64, enum: [9007199254740993] } }
            requestBody:
              required: true
              content: { application/json: { schema: { $ref: '#/components/schemas/Id' } } }
            responses:
              '200':
                description: The same.
                headers: { X-Id: { required: true, schema: { type: integer, format: int64, const: 9007199254740993 } } }
                content: { application/json: { schema: { $ref: '#/components/schemas/Id' } } }
        /events:
          get:
            operationId: getIds
            responses:
              '200':
                description: The ids.
                content: { application/jsonl: { schema: { type: array, items: { $ref: '#/components/schemas/Id' } } } }
      components:
        schemas:
          Id:
            type: object
            required: [id]
            properties: { id: { type: [integer, 'null'], format: int64, enum: [9007199254740993, null] } }
    `,
  })
  const compiled = await compileContract(join(directory, 'openapi.yaml'))
  const { files } = compiled
  t.match(files['requests.http'], '/ids/9007199254740993')
  t.match(JSON.parse(String(files['mcp.json'])), {
    tools: [
      {
        inputSchema: {
          properties: { path: { properties: { id: { enum: ['9007199254740993'] } } } },
          $defs: { Id: { properties: { id: { enum: ['9007199254740993', null] } } } },
        },
      },
    ],
  })
  t.match(handlerStubs(compiled, undefined).join('\n'), /'X-Id': 9007199254740993n.*id: 9007199254740993n/s)
  await writeStale(files, join(directory, 'generated'))
  const contract = await generatedContract(join(directory, 'generated'))
  t.match(exampleCalls(contract, 'token'), [
    { request: { url: '/ids/9007199254740993', payload: '{"id":9007199254740993}' } },
  ])
  const { app } = mockServer(
    await generatedContract(join(directory, 'generated')),
    ({ message }: { message: string }) => ({ contentType: 'text/plain', body: message }),
    {},
  )
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const options = { method: 'POST', body: '{"id":9007199254740993}', headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${url}/ids/9007199254740993`, options)
  t.equal(await response.text(), '{"id":9007199254740993}')
  t.equal(response.headers.get('x-id'), '9007199254740993')
  t.equal(await (await fetch(`${url}/events`)).text(), '{"id":9007199254740993}\n')
})

t.test('an integer is an int64 wherever another schema of the same value is one', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const plain = { type: 'integer' }
  const unchanged = documentOf({ A: { anyOf: [int64, { type: 'string' }] } })
  t.equal(withExactUnions(unchanged), unchanged)
  const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const requestBody = { content: { 'application/json': { schema: { anyOf: [schema('A'), schema('B')] } } } }
  const responses = { 200: { content: { 'application/json': { schema: schema('D') } } } }
  const schemas = {
    A: { properties: { n: int64 } },
    B: { properties: { n: schema('C') } },
    C: { ...plain, format: 'int32', maximum: 7 },
    // Becomes an int64 only because C did.
    D: { if: { type: 'integer' }, anyOf: [schema('C'), plain] },
    E: { ...plain },
  }
  const document = { ...documentOf(schemas), paths: { '/': { post: { requestBody, responses } } } }
  t.same(withExactUnions(document).components.schemas, {
    ...schemas,
    C: { ...int64, minimum: -(2 ** 31), maximum: 7 },
    D: { if: int64, anyOf: [schema('C'), int64] },
  })
  t.same(document.components.schemas, schemas, 'the given document keeps its schemas')
})

const schemas = {
  Tree: {
    type: 'object',
    properties: { name: { examples: ['oak'] }, children: { type: 'array', items: ref('Tree') } },
  },
  Chain: { type: 'object', properties: { next: { oneOf: [ref('Chain'), { type: 'null' }] }, twin: ref('Leaf') } },
  Leaf: { type: 'object', properties: { up: ref('Chain'), leaf: { const: 1 } } },
  Either: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'object' }] },
  Twice: { type: 'object', properties: { left: ref('Leaf'), right: ref('Leaf') } },
}
const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, components: { schemas } } as Document

t.test('an integer is a bigint wherever a schema of the same value is an int64 and another one a number', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const number = { type: ['number', 'null'] }
  const one = (kind: string, value: object) => ({
    type: 'object',
    required: ['kind', 'value'],
    properties: { kind: { const: kind }, value },
  })
  const given = { anyOf: [one('price', number), one('count', int64), one('rate', { type: 'number', enum: [1, 2.5] })] }
  const schemas = { Value: given, Alone: { type: 'number' } }
  const content = { 'application/json': { schema: ref('Value') } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          requestBody: { required: true, content },
          responses: { 200: { description: '', content } },
        },
      },
    },
    components: { schemas },
  } as Document
  const { files } = await compileDocument(document, 'a.yaml')
  const types = files['api.d.ts'] ?? ''
  t.match(types, /kind: "price";[^}]+?value: bigint \| number \| null;/)
  t.match(types, /kind: "count";[^}]+?value: bigint;/)
  t.match(types, /kind: "rate";[^}]+?value: bigint \| number;/)
  t.match(types, /Alone: number;/)
  t.match(JSON.parse(files['client.json'] ?? ''), { responses: { 'POST /a': { 200: 0 } } })
  const received: unknown[] = []
  const app = await serveDocument(document, {
    handlers: {
      a: async ({ body }: { body: { kind: string; value: unknown } }) => {
        received.push(body.value)
        return { status: 200, body }
      },
    },
  } as never)
  t.teardown(() => app.close())
  const cases: [kind: string, text: string, value: unknown][] = [
    ['price', '5', 5n],
    ['price', '0.5', 0.5],
    ['price', 'null', null],
    ['price', '9007199254740993', 9007199254740993n],
    ['price', '-99999999999999999999', -99999999999999999999n],
    ['price', '1e300', 1e300],
    ['count', '9223372036854775807', 9223372036854775807n],
    ['rate', '1', 1n],
    ['rate', '2.5', 2.5],
  ]
  for (const [kind, text, value] of cases) {
    const payload = `{"kind":"${kind}","value":${text}}`
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/a', headers, payload })
    t.same([statusCode, received.pop()], [200, value], payload)
    t.equal(body, payload.replace('1e300', '1e+300'))
  }
  const { body } = await app.inject({
    method: 'POST',
    url: '/a',
    headers: { 'content-type': 'application/json' },
    payload: '{"kind":"price","value":123456789012345678901}',
  })
  t.match(body, /must be a number that a double holds without rounding/)
})

t.test('the example of a recursive schema ends at the recursion', async (t) => {
  t.same(exampleOf(document, ref('Tree')), { name: 'oak', children: [] })
  t.same(exampleOf(document, ref('Either')), ['text'])
  t.same(exampleOf(document, ref('Chain')), { next: null, twin: { leaf: 1 } })
  const leaf = { up: { next: null }, leaf: 1 }
  t.same(exampleOf(document, ref('Twice')), { left: leaf, right: leaf })
})

t.test('an example has what a condition demands of its values', async (t) => {
  const kind = { enum: ['dog', 'cat'] }
  const condition = {
    if: { properties: { kind: { enum: ['dog'] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['chip'], properties: { chip: { const: 1 } } },
  }
  t.same(exampleOf(document, { type: 'object', properties: { kind }, allOf: [condition] }), { kind: 'dog', chip: 1 })
  t.same(exampleOf(document, { type: 'object', properties: { kind: { const: 'cat' } }, ...condition }), { kind: 'cat' })
})
