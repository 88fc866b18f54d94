import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { comparableDocument } from '../../src/changes/comparable-document.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const names = ['A', 'B', 'C', 'D']
const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const documentOf = (schemas: Record<string, unknown>): Document => ({
  openapi: '3.1.0',
  info: { title: 'Schemas', version: '1.0.0' },
  paths: {},
  components: { schemas },
})
/** Returns objects with at most four of the members, because schemas with few keywords are merged more often. */
const someOf = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc
    .subarray(Object.keys(members), { maxLength: 4 })
    .chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, members[name] as fc.Arbitrary<unknown>]))))

const key = fc.constantFrom('a', 'b', 'c')
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, true, 0, 1, 2.5, 7, '', 'a', 'ab'),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value

const { schema, keywords } = fc.letrec<{ schema: unknown; keywords: object }>((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 })
  const types = fc.constantFrom(
    'object',
    'array',
    'string',
    'integer',
    'number',
    ['object', 'array'],
    ['number', 'null'],
  )
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 3, arbitrary: fc.constantFrom(...names).map(to) },
      { weight: 8, arbitrary: tie('keywords') },
    ),
    keywords: someOf({
      $ref: fc.constantFrom(...names).map((name) => to(name).$ref),
      allOf: list,
      anyOf: fc.oneof(
        list,
        tie('keywords').map((schema) => [schema, { type: 'null' }]),
      ),
      oneOf: list,
      not: tie('schema'),
      if: tie('schema'),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: tie('schema'),
      type: types,
      enum: fc.uniqueArray(fc.constantFrom(null, 1, 2.5, 'a', 'ab'), { minLength: 1 }),
      const: fc.constantFrom(1, 'a'),
      minimum: fc.integer({ min: 0, max: 3 }),
      exclusiveMaximum: fc.integer({ min: 0, max: 3 }),
      minLength: fc.integer({ min: 0, max: 2 }),
      pattern: fc.constantFrom('^a', 'b$'),
      required: fc.uniqueArray(key),
      properties: fc.dictionary(key, tie('schema')),
      patternProperties: fc.dictionary(fc.constantFrom('^a$', '^[bc]$'), tie('schema'), { maxKeys: 1 }),
      additionalProperties: tie('schema'),
      unevaluatedProperties: tie('schema'),
      minProperties: fc.integer({ min: 0, max: 2 }),
      items: tie('schema'),
      prefixItems: list,
      uniqueItems: fc.boolean(),
      description: fc.constantFrom('one', 'two'),
    }),
  }
})

function validators(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  ajv.addSchema({ ...document, $id: 'https://schemas.test/' })
  return names.map((name) => ajv.compile({ $ref: `https://schemas.test/${to(name).$ref}` }))
}

const allOfs = (document: object) => JSON.stringify(document).split('"allOf"').length - 1

/** Returns undefined if Ajv throws, as it does for endlessly recursive schemas and for some unevaluatedProperties. */
const outcome = <T>(run: () => T): T | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}

type Composed = { allOf: unknown[]; properties?: object; unevaluatedProperties?: boolean }
type Value = string | number | boolean | unknown[] | Record<string, unknown> | null

const b = { properties: { b: { type: 'integer' } } }
/** Schemas that must not be merged: their keywords would have another meaning next to each other. */
const dependent: Composed[] = [
  { allOf: [b, { properties: { a: {} }, additionalProperties: false }] },
  { allOf: [{ patternProperties: { b: {} } }, { additionalProperties: false }] },
  { allOf: [{ additionalProperties: { type: 'integer' } }, { properties: { b: {} }, additionalProperties: false }] },
  { allOf: [b, { properties: { a: {} }, unevaluatedProperties: false }] },
  { allOf: [b], properties: { a: {} }, unevaluatedProperties: false },
  {
    properties: { a: { allOf: [b, { unevaluatedProperties: false }] } },
    allOf: [{ properties: { a: { minProperties: 1 } } }],
  },
  { allOf: [{ if: { required: ['a'] } }, { else: { required: ['b'] } }] },
  { allOf: [{ contains: { const: 1 } }, { minContains: 0 }] },
  { allOf: [{ prefixItems: [{}] }, { items: { type: 'string' } }] },
  { allOf: [{ const: 1 }, { enum: ['a'] }] },
  { allOf: [{ type: 'string' }, { type: 'integer' }] },
  { allOf: [{ type: ['number', 'null'] }, { type: ['integer', 'string'] }] },
  { allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
  { allOf: [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { oneOf: [{ minProperties: 2 }] }] },
  { allOf: [{ not: { required: ['a'] } }, { not: { required: ['b'] } }] },
  { allOf: [false, {}] },
]
const telling: Value[] = [
  {},
  { a: 1 },
  { b: 1 },
  { b: 'b' },
  { a: 1, b: 1 },
  { a: { b: 1 } },
  [],
  [1],
  ['a'],
  [1, 'a'],
  [1, 1],
  1,
  2.5,
  'a',
  'b',
  'ab',
  null,
]

t.test('a merged schema accepts the same values as the original', async (t) => {
  let merges = 0
  let values = 0
  const composed = fc.tuple(keywords, fc.array(schema, { minLength: 1, maxLength: 3 }))
  const composedSchema = composed.map(([own, allOf]) => ({ ...own, allOf }))
  const documents = fc.record({ A: composedSchema, B: composedSchema, C: keywords, D: keywords })
  fc.assert(
    fc.property(documents, fc.array(value, { minLength: 20, maxLength: 30 }), (schemas, candidates) => {
      const document = documentOf(schemas)
      const comparable = comparableDocument(document)
      const before = outcome(() => validators(document))
      fc.pre(before !== undefined)
      const after = validators(comparable.document)
      merges += allOfs(document) - allOfs(comparable.document)
      for (const [index, name] of names.entries())
        for (const candidate of candidates) {
          const [expected, actual] = [before, after].map((validators) => outcome(() => validators[index]?.(candidate)))
          if (expected === undefined || actual === undefined) continue
          values++
          if (actual !== expected)
            throw new Error(
              `${name}: ${actual} for ${JSON.stringify(candidate)}\n${JSON.stringify(comparable.document)}`,
            )
        }
    }),
    {
      numRuns: 40 + dependent.length,
      seed: 16,
      examples: dependent.map((A): [{ A: Composed; B: Composed; C: object; D: object }, Value[]] => [
        { A, B: { allOf: [] }, C: {}, D: {} },
        telling,
      ]),
    },
  )
  t.comment(`${values} values, ${merges} allOf merged`)
  t.ok(merges > 40)
})

t.test('nested allOf costs at most cubic time', async (t) => {
  type Level = (below: object, index: number) => object
  const chain = (levels: number, level: Level) =>
    documentOf(
      Object.fromEntries(
        Array.from({ length: levels }, (_, index) => [
          `S${index}`,
          index === 0 ? { properties: { a: { minLength: 1, items: {} } } } : level(to(`S${index - 1}`), index),
        ]),
      ),
    )
  const documents: Record<string, Level> = {
    'each takes in the one below twice': (below) => ({ allOf: [below, below] }),
    'each takes in the one below twice, narrowed': (below, index) => ({
      allOf: [
        { allOf: [below], minProperties: index },
        { allOf: [below], maxProperties: index },
      ],
    }),
    'each has the one below as two properties, narrowed': (below, index) => ({
      properties: { a: { allOf: [below, { minProperties: index }] }, b: { allOf: [below, { maxProperties: index }] } },
    }),
    'each takes in the one below and has it as two properties': (below, index) => ({
      allOf: [below, { properties: { a: { allOf: [below], title: `${index}` }, b: below } }],
    }),
    'each takes in all below': (_, index) => ({ allOf: Array.from({ length: index }, (_, below) => to(`S${below}`)) }),
  }
  for (const [name, level] of Object.entries(documents)) {
    const [few = 0, many = 0] = [20, 40].map((levels) => comparableDocument(chain(levels, level)).steps)
    t.comment(`${name}: ${few} steps for 20, ${many} for 40`)
    t.ok(many < 2 ** 3.2 * few, name)
  }
})
