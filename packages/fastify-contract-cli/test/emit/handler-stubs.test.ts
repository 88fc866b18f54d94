import { diagnose } from 'fastify-contract-test-support/compiler'
import t, { type Test } from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { ownPath } from '../support/own-path.ts'

const int64 = { type: 'integer', format: 'int64' }
const text = { type: 'string' }
const json = (schema: object, example?: unknown) => ({
  description: 'a',
  content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
})
const done = { responses: { 204: { description: 'a' } } }

function documentOf(operations: Record<string, object>, schemas: Record<string, object> = {}): Document {
  const paths = Object.entries(operations).map(([operationId, operation], index) => [
    `/${index}`,
    { post: { operationId, ...operation } },
  ])
  const info = { title: '', version: '' }
  return { openapi: '3.1.0', info, paths: Object.fromEntries(paths), components: { schemas } }
}

/** The modules with handlers of all documents, which compile together in a fraction of the time, and their types. */
const handlerModules: string[] = []
const texts: Record<string, string> = {}

/** Returns the handler stubs of a document; the last test compiles them. */
async function stubs(document: Document, before?: Document): Promise<string[]> {
  const compiled = await compileDocument(document, 'a.yaml')
  const printed = handlerStubs(compiled, before)
  const directory = `${ownPath('test/documents')}/new-${handlerModules.length}`
  const handlers = [
    "import { ContractError } from 'fastify-contract/handlers'",
    "import type { Handlers } from './handler-types.d.ts'",
    'export const handlers: Partial<Handlers> = {',
    ...printed,
    '}',
    'export const used = ContractError',
  ].join('\n')
  for (const name of ['api.d.ts', 'handler-types.d.ts']) texts[`${directory}/${name}`] = compiled.files[name] as string
  texts[`${directory}/handlers.ts`] = handlers
  handlerModules.push(`${directory}/handlers.ts`)
  return printed
}

type Case = [schema: object, body: string, example?: unknown]

/** Asserts the response bodies, as source text, in the stubs of operations with the given schemas. */
async function checkBodies(t: Test, cases: Case[], schemas?: Record<string, object>): Promise<void> {
  const operations = cases.map(([schema, , example], index) => [
    `a${index}`,
    { responses: { 200: json(schema, example) } },
  ])
  const printed = await stubs(documentOf(Object.fromEntries(operations), schemas))
  for (const [index, [schema, expected]] of cases.entries()) {
    const text = printed[index] ?? ''
    const body = /^ {4}throw/m.exec(text)?.[0].trim() ?? /body: (.*) \}\n/s.exec(text)?.[1]
    t.equal(body, expected, JSON.stringify(schema).slice(0, 200))
  }
}

t.test('an int64 that a double cannot hold has the digits of the document, or is not shown', async (t) => {
  const withExample = (example: unknown) => {
    const schema = { type: 'object', properties: { id: int64 } }
    const headers = { at: { schema: int64, example } }
    return documentOf({ get: { responses: { 200: { ...json(schema, { id: example }), headers } } } })
  }
  const document = withExample(9007199254740993n)
  const [known] = await stubs(document)
  t.match(known, 'headers: { at: 9007199254740993n }, body: { id: 9007199254740993n }')
  const { files } = await compileDocument(document, 'a.yaml')
  t.match(files['api.d.ts'], '9007199254740993')
  t.notMatch(files['api.d.ts'], '9007199254740992')
  const [unknown] = await stubs(withExample(2 ** 53))
  t.match(unknown, 'return { status: 200, body: { id: 0n } }', 'made from the schema')
  t.notMatch(unknown, '900719925474099')
})

t.test('a new operation gets a handler that returns its example exactly', async (t) => {
  const reply = {
    type: 'object',
    properties: { id: int64, 'x-y': {}, tags: {}, count: { type: 'integer' }, __proto__: undefined },
  }
  const example = { id: 7, 'x-y': null, tags: ["it's", '"\n', {}], count: 1 }
  const parameters = [
    { name: 'id', in: 'query', required: true, schema: int64 },
    { name: 'plant-id', in: 'query', schema: int64 },
    { name: 'a\u2028b', in: 'query', schema: int64 },
  ]
  const get = { parameters, requestBody: json({}), responses: { 200: json(reply, example) } }
  const document = documentOf({ get, old: done, 'remove it': done, __proto__: done })
  t.same(await stubs(document, documentOf({ old: {} })), [
    [
      String.raw`  // POST /0 takes body, query.id, query['plant-id'], query['a\u2028b']`,
      "  async get(): ReturnType<Handlers['get']> {",
      '    // The example of the document.',
      String.raw`    return { status: 200, body: { id: 7n, 'x-y': null, tags: ['it\'s', '"\n', {}], count: 1 } }`,
      '  },',
    ].join('\n'),
    "  // POST /2\n  async 'remove it'(): ReturnType<Handlers['remove it']> {\n    // The response has no body.\n    return { status: 204, body: undefined }\n  },",
  ])
  t.equal((await stubs(document)).length, 3)
  t.same(await stubs(document, document), [])
})

t.test('in a new handler, a misspelt optional property is an error of its line', async (t) => {
  const failure = json({ type: 'object', required: ['error'], properties: { error: text, message: text } })
  const compiled = await compileDocument(
    documentOf({ get: { responses: { ...done.responses, 404: failure } } }),
    'a.yaml',
  )
  const [stub = ''] = handlerStubs(compiled, undefined)
  const directory = ownPath('test/documents/misspelt')
  const module = (response: string) =>
    [
      "import type { Handlers } from './handler-types.d.ts'",
      `export const handlers: Handlers = {\n${stub.replace(/return .*/, `return ${response}`)}\n}`,
    ].join('\n')
  const line =
    module('')
      .split('\n')
      .findIndex((text) => text.includes('return')) + 1
  for (const [index, response] of [
    `{ status: 404, body: { error: 'a', massage: 'b' } }`,
    '{ status: 403, body: undefined }',
  ].entries()) {
    const path = `${directory}/handlers-${index}.ts`
    const findings = diagnose([path], {
      [path]: module(response),
      [`${directory}/api.d.ts`]: compiled.files['api.d.ts'] as string,
      [`${directory}/handler-types.d.ts`]: compiled.files['handler-types.d.ts'] as string,
    })
    t.match(findings, [new RegExp(`handlers-${index}\\.ts:${line} .*(massage|403)`)])
  }
})

t.test('a handler says where its response is from, or why it responds with 501', async (t) => {
  const named = { type: 'object', properties: { a: { ...text, example: 'b' }, c: text } }
  const operations = {
    made: { responses: { 200: json({ type: 'object', properties: { a: text } }) } },
    done,
    broken: { responses: { 200: json(int64, 'seven') } },
    named: { responses: { 200: json(named) } },
    redirect: { responses: { 302: { description: 'a' }, 404: json(text) } },
    failing: { responses: { 405: { description: 'a' }, 404: json(text, 'none') } },
    impossible: { responses: { 200: json({ ...text, pattern: '.^', minLength: 1 }) } },
  }
  const statements = (await stubs(documentOf(operations))).map((handler) => handler.split('\n').slice(2, -1))
  const lines = (...all: string[]) => all.map((line) => `    ${line}`)
  t.same(statements, [
    lines('// Made from the schema; the document has no valid example.', "return { status: 200, body: { a: 'a' } }"),
    lines('// The response has no body.', 'return { status: 204, body: undefined }'),
    lines('// Made from the schema; the document has no valid example.', 'return { status: 200, body: 0n }'),
    lines('// Made from the schema and the examples of its parts.', "return { status: 200, body: { a: 'b', c: 'c' } }"),
    lines('// The response has no body.', 'return { status: 302, body: undefined }'),
    lines(
      '// The document lists errors only, so the response is 501.',
      "throw new ContractError('notImplemented', 'failing is not written yet')",
    ),
    lines(
      '// No valid response can be made from the document, so the response is 501.',
      "throw new ContractError('notImplemented', 'impossible is not written yet')",
    ),
  ])
})

t.test('a new handler returns the headers of its response', async (t) => {
  const headers = {
    'X-Total': { required: true, schema: int64, example: 7 },
    ETag: { schema: { ...text, pattern: '^"', example: 'a' } },
    'X-Request-Id': { required: true, schema: text },
  }
  const responses = (more: object = {}) => ({ 200: { ...json(text, 'b'), headers: { ...headers, ...more } } })
  const strict = { 'X-Pattern': { required: true, schema: { ...text, pattern: '.^', minLength: 1 } } }
  const broken = { Location: { required: true, schema: { ...text, format: 'uri' }, example: '/a' } }
  const document = documentOf({
    a: { responses: responses() },
    b: { responses: responses(strict) },
    c: { responses: responses(broken) },
    d: { responses: { 204: { description: 'a', headers: broken } } },
  })
  const [first = '', second, third = '', fourth = ''] = await stubs(document)
  t.match(first, "    return { status: 200, headers: { 'X-Total': 7n }, body: 'b' }\n")
  t.match(second, /throw/)
  t.match(third, "Location: 'https://example.com/' }", 'the example breaks its schema')
  t.match(third, "body: 'b'")
  t.match(fourth, "    return { status: 204, headers: { Location: 'https://example.com/' }, body: undefined }\n")
})

t.test('a new handler reads a body that is validated only as it is read', async (t) => {
  const form = { 'multipart/form-data': { schema: { type: 'object', properties: { a: int64 } } } }
  const lines = { 'application/jsonl': { schema: int64 } }
  const events = { 'text/event-stream': { schema: text } }
  const plain = { 'application/json': { schema: int64 } }
  const required = true
  const loop = (name: string, body = 'body') => `for await (const _${name} of ${body});`
  const cases: [requestBody: object, used: string, statement: string | undefined][] = [
    [{ required, content: form }, '{ body }', loop('part')],
    [{ content: form }, '{ body }', loop('part', 'body ?? []')],
    [{ required, content: lines }, '{ body }', loop('item')],
    [{ content: events }, '{ body }', loop('event', 'body ?? []')],
    [
      { required, content: { ...form, ...plain } },
      '{ body, contentType }',
      `if (contentType === 'multipart/form-data') ${loop('part')}`,
    ],
    [
      { content: { ...form, ...lines, ...plain, 'image/*': {} } },
      '{ body, contentType }',
      `if (contentType === 'multipart/form-data' || contentType === 'application/jsonl') ${loop('item')}`,
    ],
    [{ required, content: plain }, '', undefined],
    [{ required, content: { 'image/png': {} } }, '', undefined],
    [{ required, content: { '*/*': {} } }, '', undefined],
  ]
  const operations = cases.map(([requestBody], index) => [`a${index}`, { requestBody, ...done }])
  const printed = await stubs(documentOf(Object.fromEntries(operations)))
  for (const [index, [requestBody, used, statement]] of cases.entries()) {
    const [, , ...statements] = (printed[index] ?? '').split('\n')
    const name = JSON.stringify(requestBody)
    t.match(printed[index], `async a${index}(${used}): `, name)
    t.equal(statements.find((line) => line.includes('for await'))?.trim(), statement, name)
  }
})

t.test('a new handler returns non-JSON bodies as their media type requires', async (t) => {
  const object = { type: 'object', properties: { a: text } }
  const responses: [content: object, expected: string][] = [
    [{ 'text/plain': { schema: text, example: 'b' } }, "body: 'b'"],
    [{ 'application/xml': { schema: object, example: '<a/>' } }, "body: '<a/>'"],
    [{ 'application/xml': { schema: object } }, `body: '{"a":"a"}'`],
    [{ 'image/png': {} }, 'body: new Uint8Array()'],
    [{ '*/*': { schema: int64 } }, "contentType: 'application/json', body: 0n"],
    [{ 'text/*': {} }, "contentType: 'text/plain', body: '{}'"],
    [{ 'audio/*': {} }, "contentType: 'audio/x-example', body: new Uint8Array()"],
    [{ 'text/csv': {}, 'application/json': {} }, "contentType: 'application/json', body: {}"],
    [
      { 'text/event-stream': { schema: object } },
      "body: (async function* () {\n      yield { data: { a: 'a' } }\n    })()",
    ],
    [
      { 'text/event-stream': { schema: { ...object, required: ['a'] }, example: 'data: a' } },
      "yield { data: { a: 'a' } }",
    ],
    [
      { 'application/jsonl': { schema: { type: 'array', items: object }, example: [{ a: 'b' }, {}] } },
      "yield { a: 'b' }\n      yield {}\n",
    ],
    [{ 'application/x-ndjson': { schema: int64 } }, 'yield 0n\n'],
    [{ 'application/x-ndjson': { schema: { ...text, pattern: '.^', minLength: 1 } } }, 'throw'],
    [{ 'text/event-stream': { schema: int64, example: 'a' } }, 'yield { data: 0n }\n'],
  ]
  const operations = responses.map(([content], index) => [
    `a${index}`,
    { responses: { 200: { description: 'a', content } } },
  ])
  const printed = await stubs(documentOf(Object.fromEntries(operations)))
  for (const [index, [content, expected]] of responses.entries())
    t.ok(printed[index]?.includes(expected), `${Object.keys(content)}: ${printed[index]}`)
})

t.test('a new handler returns JSON if another media type comes first without an example', async (t) => {
  const schema = { type: 'object', properties: { a: { ...text, example: 'b' } } }
  const responses = (xml: object) => ({
    responses: {
      200: { description: 'a', content: { 'application/xml': { schema, ...xml }, 'application/json': { schema } } },
    },
  })
  const [without, shown] = await stubs(documentOf({ without: responses({}), shown: responses({ example: '<a/>' }) }))
  t.match(without, '// Made from the schema and the examples of its parts.\n')
  t.match(without, "return { status: 200, contentType: 'application/json', body: { a: 'b' } }")
  t.match(
    shown,
    "// The example of the document.\n    return { status: 200, contentType: 'application/xml', body: '<a/>' }",
  )
})

t.test('an invalid example is replaced by a valid value', async (t) => {
  const object = { type: 'object', properties: { id: int64, a: text } }
  await checkBodies(t, [
    [int64, '0n', 'seven'],
    [{ ...int64, example: 'seven' }, '0n'],
    [{ ...text, example: 'seven' }, "'seven'", { a: 1 }],
    [object, "{ id: 0n, a: 'a' }", { id: 1, a: '\ud800' }],
  ])
})

t.test('a value that does not fit its TypeScript type is replaced', async (t) => {
  // A type gives the other properties the types of all properties, and null only to a described one.
  const schema = { type: 'object', properties: { a: text }, patternProperties: { '^b': { type: 'integer' } } }
  await checkBodies(t, [
    [schema, "{ a: 'a' }", { c: null }],
    [{ ...schema, example: {} }, '{}', { c: null }],
    [schema, "{ a: 'b', b: 1 }", { a: 'b', b: 1 }],
  ])
})

t.test('generated values satisfy their schemas', async (t) => {
  await checkBodies(t, [
    [{ ...text, format: 'uuid' }, "'00000000-0000-4000-8000-000000000000'"],
    [{ ...text, format: 'date-time' }, "'2026-01-01T00:00:00Z'"],
    [{ ...text, format: 'toString' }, "'text'"],
    [{ ...text, enum: ['a', 'b'] }, "'a'"],
    [{ ...text, minLength: 3 }, "'text'"],
    [{ ...text, minLength: 5 }, "'xxxxx'"],
    [{ ...text, maxLength: 2 }, "'te'"],
    [{ ...text, pattern: '^[A-Z]{2}-\\d+$', minLength: 6 }, "'AA-0000000'"],
    [{ ...int64, minimum: 5 }, '5n'],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, '0.5'],
    [{ type: 'integer', exclusiveMinimum: 5, multipleOf: 5 }, '10'],
    [{ type: 'integer', maximum: -3.5 }, '-4'],
    [{ type: 'array', items: text, minItems: 2 }, "['text', 'text']"],
    [{ type: 'array', items: text, uniqueItems: true, minItems: 2 }, "['text', 'text1']"],
    [{ type: 'array', prefixItems: [text, { type: 'boolean' }], items: false }, "['text', false]"],
    [{ type: 'object', required: ['a'], additionalProperties: int64 }, '{ a: 0n }'],
    // The type has the required member, although no schema describes it.
    [{ type: 'object', required: ['a'], properties: { b: { ...text, minLength: 1 } } }, "{ a: {}, b: 'b' }"],
    [{ allOf: [text, { minLength: 1 }] }, "'text'"],
    [{ allOf: [{ type: 'object', properties: { a: text } }, { properties: { a: { enum: ['b'] } } }] }, "{ a: 'b' }"],
    [{ type: 'number', allOf: [{ type: 'integer' }] }, '0'],
    [{ type: ['null', 'string'] }, 'null'],
    [{ type: ['string', 'integer'], enum: [1, 'a'] }, '1'],
  ])
})

t.test('a made string is the name of its property if the schema allows it', async (t) => {
  const properties = {
    name: text,
    code: { ...text, pattern: '^[a-z]+$' },
    state: { ...text, pattern: '^[A-Z]{2}$' },
    photo: { ...text, format: 'byte' },
    tags: { type: 'array', items: text },
    'a\u2028b': text,
  }
  const body = "{ name: 'name', code: 'code', state: 'AA', photo: '', tags: ['tags'], 'a\\u2028b': '' }"
  await checkBodies(t, [[{ type: 'object', properties }, body]])
})

t.test('a made value satisfies one alternative of oneOf, also where the first ones satisfy others', async (t) => {
  const a = { type: 'object', properties: { a: text } }
  const either = (name: string) => ({ required: ['id', name] })
  await checkBodies(t, [
    [{ oneOf: [text, a, text] }, "{ a: 'a' }"],
    [{ oneOf: [a, { ...a, required: ['b'], properties: { b: text }, additionalProperties: false }] }, "{ a: 'a' }"],
    [
      { type: 'object', properties: { id: int64, one: text, two: text }, oneOf: [either('one'), either('two')] },
      "{ id: 0n, one: 'one' }",
    ],
  ])
})

t.test('schemas of OpenAPI 3.0 keep their meaning', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 0, exclusiveMinimum: true } } }
  const nullable = { ...text, nullable: true, enum: [null] }
  const responses = { 200: json({ ...schema, required: ['b'], properties: { ...schema.properties, b: nullable } }) }
  t.match(await stubs({ ...documentOf({ a: { responses } }), openapi: '3.0.4' }), [/body: \{ a: 1, b: null \} \}/])
})

t.test('the handler throws where no value is found', async (t) => {
  await checkBodies(t, [
    [{ ...text, pattern: '.^', minLength: 1 }, 'throw'],
    [{ ...text, minLength: 100_000 }, 'throw'],
    [{ type: 'array', items: { const: 'a' }, uniqueItems: true, minItems: 2 }, 'throw'],
  ])
})

t.test('examples of recursive schemas terminate', async (t) => {
  const names = Array.from({ length: 30 }, (_, index) => `S${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]))
  const schemas = Object.fromEntries(names.map((name) => [name, { type: 'object', properties }]))
  const operation = { responses: { 200: json({ $ref: '#/components/schemas/S0' }) } }
  const [printed = ''] = await stubs(documentOf({ a: operation }, schemas))
  t.ok(printed.length < 100_000, `${printed.length} characters`)
})

t.test('all handlers compile', async (t) => {
  t.ok(handlerModules.length > 10)
  t.same(diagnose(handlerModules, texts), [])
})
