import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { type Document, type Endpoint, endpoints } from '../../src/document/openapi-document.ts'
import { assignability, returnability } from '../../src/emit/assignable-values.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { literalOf } from '../../src/emit/handler-stubs.ts'
import { exampleStream } from '../../src/examples/examples.ts'
import { literal } from '../../src/text/source-text.ts'
import { ownPath } from '../support/own-path.ts'

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more })
const closed = (properties: object) => object(properties, { additionalProperties: false })
const shared = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const schemas = {
  Pet: object({ kind: text, name: text }, { required: ['kind'] }),
  Cat: { allOf: [shared('Pet'), object({ kind: { enum: ['cat'] }, lives: { type: 'integer' } })] },
  Dog: { allOf: [shared('Pet'), object({ kind: { const: 'dog' }, trick: text })] },
  Tree: object({ below: list(shared('Tree')), size: int64 }),
  Wide: {
    allOf: Array.from({ length: 20 }, () => ({
      anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/components/schemas/Pet' })),
    })),
  },
}

/** Values of a schema that are literals of its type, and others that are not, whether they satisfy the schema or not. */
const cases: [schema: unknown, fitting: unknown[], others: unknown[]][] = [
  [true, [1, null, { a: [1n] }, [{}]], []],
  [text, ['a'], [1, null, 1n, {}, []]],
  [{ type: ['string', 'null'] }, ['a', null], [1]],
  [{ type: 'integer' }, [1], [1n, '1']],
  [{ type: 'number' }, [1.5], [1n]],
  [int64, [1n], [1, null]],
  [{ ...int64, type: ['integer', 'null'] }, [1n, null], [1]],
  [{ ...int64, type: ['integer', 'string'] }, [1n, 'a'], [1]],
  [{ ...int64, enum: [1, 2] }, [2n], [2]],
  [{ type: 'integer', format: 'uint64' }, [1n], [1]],
  [{ allOf: [{ type: 'number' }, int64] }, [], ['1']],
  [{ type: 'boolean' }, [true], ['true']],
  [{ type: 'null' }, [null], [0]],
  [{ ...text, enum: ['a', 'b'] }, ['a'], ['c']],
  [{ type: ['string', 'null'], enum: ['a'] }, ['a'], ['b']],
  [{ ...text, enum: ['a', null] }, ['a'], [null]],
  [{ enum: ['a', 1, null, false] }, ['a', 1, null, false], ['b', true]],
  [{ enum: [{ a: 1 }, [2, 'x']] }, [{ a: 1 }, [2, 'x']], [{ a: 2 }, { a: 1, b: 1 }, [2], [2, 'y']]],
  [{ const: 'a' }, ['a'], ['b']],
  [{ const: null }, [null], ['a']],
  [{ const: [1, { a: 'x' }] }, [[1, { a: 'x' }]], [[1]]],
  [object({ a: text }), [{}, { a: 'b' }], [{ a: 1 }, { b: 1 }, [], 'a', null]],
  [
    object({ a: text }, { required: ['a', 'c'] }),
    [
      { a: 'b', c: 1 },
      { a: 'b', c: null },
    ],
    [{ a: 'b' }, { c: 1 }],
  ],
  [{ type: 'object' }, [{}, { a: [1, null] }], ['a', []]],
  [closed({}), [{}], [{ a: 1 }]],
  [object({ a: false, b: text }), [{ b: 'b' }], [{ a: 1 }]],
  [object({ a: text }, { additionalProperties: int64 }), [{ a: 'b', c: 1n }, { c: 'd' }], [{ c: null }, { c: 1 }]],
  [object({ a: text }, { additionalProperties: true }), [{ a: 'b', c: null }], [{ a: 1 }]],
  [
    object({ a: text }, { patternProperties: { '^b': { type: 'integer' } } }),
    [{ a: 'b', b: 1 }],
    [{ c: null }, { b: true }],
  ],
  [
    object({ a: text }, { patternProperties: { '^b': int64, '^c': list(text) } }),
    [{ b: 1n, c: ['a'] }],
    [{ b: 1 }, { c: [1] }],
  ],
  [{ properties: { a: text } }, [{ a: 'b' }], ['a', { b: 1 }]],
  [{ type: ['object', 'null'], properties: { a: text } }, [null, { a: 'b' }], [{ b: 1 }]],
  [object({ a: text }, { unevaluatedProperties: false }), [{ a: 'b' }], [{ b: 1 }]],
  [object({ a: object({ b: text }) }), [{ a: { b: 'c' } }], [{ a: { c: 'd' } }]],
  [
    { allOf: [object({ a: text }), object({ b: object({ c: text }) })] },
    [{ a: 'x', b: { c: 'd' } }],
    [{ b: { d: 1 } }, { c: 1 }],
  ],
  [
    { allOf: [object({ a: object({ b: text }) }), object({ a: object({ c: text }) })] },
    [{ a: { b: 'x', c: 'y' } }],
    [{ a: { d: 1 } }],
  ],
  [{ anyOf: [object({ a: text }), text, list(int64)] }, [{ a: 'b' }, 'c', [1n]], [{ b: 1 }, [1], 1]],
  [
    { oneOf: [shared('Cat'), shared('Dog')] },
    [
      { kind: 'cat', lives: 9 },
      { kind: 'dog', trick: 'sit' },
    ],
    [{ kind: 'cat', trick: 'sit' }, { kind: 'cow' }],
  ],
  [
    {
      oneOf: [shared('Cat'), shared('Dog')],
      discriminator: {
        propertyName: 'kind',
        mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' },
      },
    },
    [{ kind: 'cat', lives: 9 }],
    [{ kind: 'cat', trick: 'sit' }],
  ],
  [{ anyOf: [closed({ a: text }), closed({ b: text })] }, [{ a: 'x' }, { b: 'x' }], [{ a: 'x', b: 'x' }, { c: 1 }]],
  [
    { ...object({ id: text }), oneOf: [{ required: ['one'] }, { required: ['two'] }] },
    [{ id: 'a', one: 1 }],
    [{ id: 1, one: 1 }],
  ],
  [list(text), [[], ['a']], [[1], {}, 'a']],
  [list(closed({ a: text })), [[{ a: 'b' }]], [[{ b: 1 }]]],
  [{ type: 'array', prefixItems: [text, { type: 'integer' }], items: false }, [[], ['a'], ['a', 1]], [[1]]],
  [{ type: 'array', prefixItems: [text], items: int64, minItems: 2 }, [['a', 1n, 2n]], [['a', 1]]],
  [{ type: 'array', prefixItems: [text] }, [['a', null]], [[null]]],
  [list({ enum: ['a', 'b'] }), [['a', 'b']], [['c']]],
  [{ type: 'boolean', items: text }, [true], [['a']]],
  [shared('Tree'), [{ below: [{ size: 1n }] }], [{ below: [{ size: 1 }] }, { below: [{ depth: 1 }] }]],
  [{ ...shared('Pet'), properties: { age: int64 } }, [{ kind: 'a', age: 1n }], [{ kind: 'a', size: 1 }]],
  [{ not: {} }, [], [1, null]],
  [
    object({ ['__proto__']: text, 'a b': text }),
    [JSON.parse('{"__proto__":"a","a b":"c"}')],
    [JSON.parse('{"__proto__":1}')],
  ],
]

const json = (schema: unknown) => ({ description: 'a', content: { 'application/json': { schema } } })

function documentOf(responses: object[]): Document {
  const paths = responses.map((each, index) => [`/${index}`, { get: { operationId: `a${index}`, responses: each } }])
  const info = { title: '', version: '' }
  return { openapi: '3.1.0', info, paths: Object.fromEntries(paths), components: { schemas } } as never
}

/** Returns which of some responses of handlers compile, each with the index of its operation. */
function compiling(files: Record<string, string>, outcomes: [operation: number, text: string][]): boolean[] {
  const directory = ownPath('test/documents/assignable')
  const lines = outcomes.map(
    ([operation, text], index) =>
      `export const r${index} = async (): ReturnType<Handlers['a${operation}']> => (${text})`,
  )
  const path = `${directory}/responses.ts`
  const texts = { [path]: ["import type { Handlers } from './handler-types.d.ts'", ...lines].join('\n') }
  for (const name of ['api.d.ts', 'handler-types.d.ts']) texts[`${directory}/${name}`] = files[name] as string
  const failed = new Set(diagnose([path], texts).map((finding) => Number(/:(\d+) /.exec(finding)?.[1])))
  return lines.map((_, index) => !failed.has(index + 2))
}

t.test('a value is assignable if it compiles as a literal of the type of its schema', async (t) => {
  const { document, files } = await compileDocument(
    documentOf(cases.map(([schema]) => ({ 200: json(schema) }))),
    'a.yaml',
  )
  const isAssignable = assignability(document)
  const byId = new Map(endpoints(document).map((each) => [each.operationId, each]))
  const values = cases.flatMap(([, fitting, others], index) =>
    [...fitting, ...others].map((value) => ({ index, value, isFitting: fitting.includes(value) })),
  )
  const compiled = compiling(
    files,
    values.map(({ index, value }) => [index, `{ status: 200, body: ${literal(value, Infinity)} }`]),
  )
  for (const [at, { index, value, isFitting }] of values.entries()) {
    const schema = byId.get(`a${index}`)?.responses[200]?.content?.['application/json']?.schema ?? true
    const said = `${literal(value, Infinity)} of ${JSON.stringify(cases[index]?.[0])}`
    t.equal(compiled[at], isFitting, `the compiler: ${said}`)
    t.equal(isAssignable(schema, value), isFitting, said)
  }
})

t.test('a type with many unions takes bounded work', async (t) => {
  const { document } = await compileDocument(documentOf([{ 200: json(shared('Wide')) }]), 'a.yaml')
  const isAssignable = assignability(document)
  t.equal(isAssignable(shared('Wide'), { kind: 'a' }), true)
  t.equal(isAssignable(shared('Wide'), { kind: 1 }), false)
})

const content = (all: object) => ({ description: 'a', content: all })
const bytes = new Uint8Array()
const headers = {
  'X-Count': { required: true, schema: int64 },
  'X-Kind': { schema: { enum: ['a', 'b'] } },
  'X-None': { schema: false },
}

/** Responses of an operation, with what a handler may return, and with what does not compile. */
const outcomes: [responses: object, fitting: Outcome[], others: Outcome[]][] = [
  [{ 204: { description: 'a' } }, [{ status: 204, body: undefined }], [{ status: 204, body: 1 }]],
  [{ default: json(text) }, [{ status: 200, body: 'a' }], [{ status: 200, body: 1 }]],
  [{ default: json(text), 400: json(text) }, [], [{ status: 200, body: 'a' }]],
  [{ '2XX': json(text) }, [{ status: 200, body: 'a' }], [{ status: 200, body: 1 }]],
  [
    { 200: { ...json(text), headers } },
    [{ status: 200, headers: { 'X-Count': 1n, 'X-Kind': 'a' }, body: 'a' }],
    [
      { status: 200, headers: { 'X-Count': 1 }, body: 'a' },
      { status: 200, headers: { 'X-Count': 1n, 'X-Kind': 'c' }, body: 'a' },
      { status: 200, headers: { 'X-Count': 1n, 'X-None': 'c' }, body: 'a' },
    ],
  ],
  [
    { 200: content({ 'text/plain': { schema: text } }) },
    [
      { status: 200, body: 'a' },
      { status: 200, body: bytes },
    ],
    [],
  ],
  [
    { 200: content({ 'text/plain': { schema: { ...text, enum: ['a'] } } }) },
    [{ status: 200, body: 'a' }],
    [{ status: 200, body: 'b' }],
  ],
  [{ 200: content({ 'application/xml': { schema: object({ a: text }) } }) }, [{ status: 200, body: '<a/>' }], []],
  [{ 200: content({ 'image/png': {} }) }, [{ status: 200, body: bytes }], []],
  [
    { 200: content({ 'application/json': { schema: int64 }, 'text/csv': { schema: text } }) },
    [
      { status: 200, contentType: 'application/json', body: 1n },
      { status: 200, contentType: 'text/csv', body: 'a' },
    ],
    [{ status: 200, contentType: 'application/json', body: 'a' }],
  ],
  [
    { 200: content({ '*/*': { schema: int64 } }) },
    [
      { status: 200, contentType: 'application/json', body: 1n },
      { status: 200, contentType: 'application/json', body: 'a' },
    ],
    [{ status: 200, contentType: 'application/json', body: true }],
  ],
  [
    { 200: content({ 'text/event-stream': { schema: { enum: ['a', 'b'] } } }) },
    [{ status: 200, body: exampleStream([{ data: 'a' }]) }],
    [{ status: 200, body: exampleStream([{ data: 'c' }]) }],
  ],
  [
    { 200: content({ 'application/jsonl': { schema: list(int64) } }) },
    [{ status: 200, body: exampleStream([1n, 2n]) }],
    [{ status: 200, body: exampleStream([1n, 'a']) }],
  ],
  [
    { 200: content({ 'multipart/mixed': {} }) },
    [{ status: 200, contentType: 'multipart/mixed; boundary=example', body: bytes }],
    [],
  ],
]

type Outcome = Parameters<ReturnType<typeof returnability>>[1]

t.test('a response is returnable if it compiles as the result of its handler', async (t) => {
  const { document, files } = await compileDocument(documentOf(outcomes.map(([responses]) => responses)), 'a.yaml')
  const isReturnable = returnability(document)
  const byId = new Map(endpoints(document).map((each) => [each.operationId, each]))
  const all = outcomes.flatMap(([, fitting, others], index) =>
    [...fitting, ...others].map((outcome) => ({ index, outcome, isFitting: fitting.includes(outcome) })),
  )
  const texts = all.map(({ index, outcome }): [number, string] => [index, literalOf(outcome).replace(/\n\s*/g, '; ')])
  const compiled = compiling(files, texts)
  for (const [at, { index, outcome, isFitting }] of all.entries()) {
    const said = `${texts[at]?.[1]} of ${JSON.stringify(outcomes[index]?.[0])}`
    t.equal(compiled[at], isFitting, `the compiler: ${said}`)
    t.equal(isReturnable(byId.get(`a${index}`) as Endpoint, outcome), isFitting, said)
  }
})
