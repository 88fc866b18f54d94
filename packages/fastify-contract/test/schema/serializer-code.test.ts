import fc from 'fast-check'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { createSerializer } from '../../src/schema/interpreted-serializer.ts'
import { compileSerializer, SerializerGenerator } from '../../src/schema/serializer-code.ts'
import { createValidator } from '../../src/schema/validator.ts'

/** PROPERTY_RUNS=100000 tests more pairs of a schema and a value. */
const pairs = Number(process.env.PROPERTY_RUNS ?? 20_000)

const shared: Record<string, Schema> = {
  Tree: {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer', format: 'int64' }, below: { type: 'array', items: { $ref: 'Tree#' } } },
  },
  MaybeTree: { anyOf: [{ $ref: 'Tree#' }, { type: 'null' }] },
  Impossible: false,
}

const names = ['id', 'a', 'b', 'below', 'toString']
const name = fc.constantFrom(...names)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const plainNames = names.slice(0, 4)
const plainName = fc.constantFrom(...plainNames)
const plainSchema = fc.constantFrom<Schema>(
  { type: 'string' },
  { type: ['integer', 'null'] },
  { type: ['object', 'string'] },
)
const limit = fc.constantFrom(-1, 0, 1, 2, 2 ** 31, 2 ** 53, 2 ** 63)
const scalar = fc.constantFrom<unknown>(null, true, 0, 1, 1.5, 2 ** 53, 'a', 'ab', '2026-01-31')

const { schema } = fc.letrec<{ schema: Schema; keywords: Schema }>((tie) => {
  const one = tie('schema')
  const keywords = {
    type: fc.constantFrom<unknown>(
      ...['null', 'boolean', 'string', 'integer', 'number', 'array', 'object', 'object', 'object'],
      ['string', 'null'],
      ['object', 'array'],
      ['integer', 'string'],
    ),
    format: fc.constantFrom('int32', 'int64', 'uint64', 'float', 'date', 'uri-reference', 'email', 'password', 'other'),
    pattern: fc.constantFrom('^a', '\\d'),
    minLength: fc.constantFrom(0, 1, 2),
    maxLength: fc.constantFrom(1, 2, 10),
    minimum: limit,
    maximum: limit,
    exclusiveMinimum: limit,
    exclusiveMaximum: limit,
    multipleOf: fc.constantFrom(2, 0.5),
    'x-exact-minimum': fc.constantFrom('9007199254740993', '-9007199254740993'),
    'x-exact-maximum': fc.constantFrom('9007199254740993', '9223372036854775807'),
    'x-exact-multipleOf': fc.constantFrom('9007199254740993', '4503599627370496'),
    'x-exact-enum': fc.constantFrom('9007199254740993,1', '9223372036854775807,0'),
    'x-exact-const': fc.constantFrom('9007199254740993', '9223372036854775807'),
    enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
    const: scalar,
    items: one,
    minItems: fc.constantFrom(0, 1),
    maxItems: fc.constantFrom(0, 1, 2),
    properties: fc.dictionary(name, one, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: one,
    allOf: fc.array(one, { minLength: 1, maxLength: 2 }),
    anyOf: fc.tuple(one, fc.constant({ type: 'null' })),
    oneOf: fc.tuple(fc.constant({ type: 'null' }), one),
    maxProperties: fc.constantFrom(0, 1, 2),
    minProperties: fc.constantFrom(0, 1, 2),
    discriminator: fc.constant({ propertyName: 'a' }),
    'x-ignored': fc.constant(true),
    not: one,
    deprecated: fc.constant(true),
  }
  const record = (required: (keyof typeof keywords)[], optional: (keyof typeof keywords)[]) =>
    fc.record(
      Object.fromEntries(
        [...required, ...optional].map((keyword) => [keyword, keywords[keyword] as fc.Arbitrary<unknown>]),
      ),
      { requiredKeys: required },
    ) as fc.Arbitrary<Schema>
  const some = fc
    .subarray(Object.keys(keywords) as (keyof typeof keywords)[], { minLength: 1, maxLength: 3 })
    .chain((keys) => record(keys, []))
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom<Schema>(true, false, {}, { type: 'string' }, { type: 'integer', format: 'int64' }),
      fc.constantFrom<Schema>(
        { $ref: 'Tree#' },
        { $ref: 'MaybeTree#' },
        { $ref: 'Impossible#' },
        { 'x-ignored': true },
      ),
      tie('keywords'),
      tie('keywords'),
    ),
    keywords: fc.oneof(
      record(['type'], ['format', 'minimum', 'maximum', 'multipleOf', 'x-exact-multipleOf']),
      record(['type', 'format'], ['const', 'enum', 'x-exact-const', 'x-exact-enum']),
      record(['type'], ['format', 'pattern', 'minLength', 'maxLength']),
      record(['type', 'properties'], ['required', 'additionalProperties']),
      record(['type', 'items'], ['minItems', 'maxItems']),
      fc
        .tuple(
          fc.uniqueArray(fc.tuple(plainName, maybe(plainSchema)), { selector: ([key]) => key }),
          fc.subarray(plainNames),
          maybe(fc.boolean()),
        )
        .map(([members, required, additionalProperties]) => ({
          type: 'object',
          properties: Object.fromEntries(members.map(([key, schema]) => [key, schema ?? true])),
          required: required.filter((key) => members.some(([property]) => property === key)),
          ...(additionalProperties !== undefined && { additionalProperties }),
        })),
      fc.constantFrom<'anyOf' | 'oneOf' | 'allOf'>('anyOf', 'oneOf', 'allOf').chain((keyword) => record([keyword], [])),
      some,
    ),
  }
})

class Instance {
  get a() {
    return 'inherited'
  }
}

const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.constantFrom<unknown>(undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 31, 2 ** 63, 2 ** 64, -1, 1e21),
    fc.constantFrom<unknown>(0n, 1n, -1n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n),
    fc.constantFrom<unknown>(
      '',
      '"',
      '\\',
      '\u0001',
      '\ud800',
      '\u{1d11e}',
      '\u{1d11e}'.repeat(2),
      'a'.repeat(11),
      'a'.repeat(41),
      '"'.repeat(41),
      Symbol('a'),
    ),
    fc.constantFrom<unknown>(() => 1, new Date(0), Object.assign([], { 1: 1 }), new Map(), { toJSON: () => 1 }),
    tie('object'),
    tie('object'),
    fc.dictionary(plainName, fc.constantFrom<unknown>('a', 1, null), { noNullPrototype: true }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }), fc.constantFrom(0, 0, 0, 0, 1, 2, 3))
    .map(([members, kind]) => {
      const own = Object.fromEntries(members)
      if (kind === 0) return own
      if (kind === 1) return Object.assign(Object.create(null), own)
      if (kind === 2) return Object.create(own)
      const getters = Object.entries(own).map(([key, member]) => [key, { get: () => member, enumerable: true }])
      return Object.defineProperties(new Instance(), Object.fromEntries(getters))
    }),
}))

t.test('what a checking serializer writes is valid, and is the text of the other serializer', async (t) => {
  let validator = createValidator(shared)
  let schemas = 0
  let written = 0
  let left = 0
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 30, maxLength: 30 }), (schema, values) => {
      // Ajv keeps each compiled schema.
      if (++schemas % 500 === 0) validator = createValidator(shared)
      const problemOf = validator.problem(schema, 'response')
      const serialize = createSerializer(shared, schema)
      const serializeIfValid = compileSerializer(shared, schema)
      for (const value of values) {
        const text = serializeIfValid(value)
        if (text === undefined) {
          left++
          continue
        }
        written++
        const problem = problemOf(value)
        if (problem !== undefined) throw new Error(`${text} was written, but ${problem}`)
        if (text !== serialize(value)) throw new Error(`${text} was written instead of ${serialize(value)}`)
      }
    }),
    { ...fixedSeed, numRuns: Math.ceil(pairs / 10), interruptAfterTimeLimit: 600_000 },
  )
  t.comment(`${written} values were written, and ${left} left to the validator`)
  t.ok(written >= pairs / 4)
})

t.test('a value of the common keywords is written without the validator', async (t) => {
  const id = { type: 'integer', format: 'int64' }
  const plant = {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id,
      name: { type: 'string', minLength: 1, maxLength: 40, pattern: '^[A-Z]' },
      kind: { enum: ['tree', 'herb'] },
      day: { type: ['string', 'null'], format: 'date' },
      color: { type: 'string', 'x-linear-pattern': '^(a+)+$' },
      height: { type: 'number', exclusiveMinimum: 0 },
      tree: { $ref: 'MaybeTree#' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
    additionalProperties: false,
  }
  const serialize = compileSerializer(shared, { type: 'array', items: plant })
  const text =
    '[{"id":9223372036854775807,"name":"Fern","kind":"herb","day":null,"color":"aa","height":0.5,"tree":{"id":1},"labels":{"a b":"c"}}]'
  const value = { id: 2n ** 63n - 1n, name: 'Fern', kind: 'herb', day: null, color: 'aa', height: 0.5 }
  t.equal(serialize([{ ...value, tree: { id: 1n, other: 2 }, labels: { 'a b': 'c' } }]), text)
  for (const other of [
    { id: 2n ** 63n },
    { name: 'fern' },
    { kind: 'moss' },
    { day: '2026-02-30' },
    { color: 'b' },
    { extra: 1 },
  ])
    t.equal(serialize([{ ...value, ...other }]), undefined)
})

t.test('an object with a least number of members, or a discriminator, needs no validator', async (t) => {
  const members = { type: 'object', minProperties: 2, properties: { a: { type: 'string' } } }
  const pet = { type: 'object', properties: { kind: { enum: ['cat'] } }, discriminator: { propertyName: 'kind' } }
  const generator = new SerializerGenerator(shared)
  for (const schema of [members, pet]) generator.nameOf(schema)
  generator.code()
  t.same([...generator.unproven()], ['unproven'])
  const serialize = compileSerializer(shared, members)
  t.strictSame(
    [{ a: 'b' }, { a: 'b', c: 1 }, { a: 1, c: 1 }, 5].map((value) => serialize(value)),
    [undefined, '{"a":"b","c":1}', undefined, undefined],
  )
  t.equal(compileSerializer(shared, pet)({ kind: 'cat', other: 1 }), '{"kind":"cat","other":1}')
})

t.test('an object whose properties are all ignored is written without members', async (t) => {
  const hidden = { type: 'object', properties: { secret: { 'x-ignored': true } }, additionalProperties: false }
  const serialize = compileSerializer(shared, hidden)
  t.strictSame(
    [{}, { secret: 1 }, { other: 1 }].map((value) => serialize(value)),
    ['{}', '{}', undefined],
  )
})

t.test('the exact keywords of 64-bit integers are checked before a value is written', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const rounded = 2 ** 53
  const chosen = [2n ** 53n + 1n]
  const fixed = { ...int64, const: rounded, 'x-exact-const': '9007199254740993' }
  const listed = { ...int64, enum: [5, rounded], 'x-exact-enum': '5,9007199254740993' }
  const steps = { ...int64, 'x-exact-multipleOf': '9007199254740993' }
  const cases: [Schema, right: unknown[], wrong: unknown[]][] = [
    [fixed, chosen, [2n ** 53n, 2n ** 53n + 2n, 1n, rounded]],
    [listed, [...chosen, 5n, 5], [2n ** 53n, 2n ** 53n + 2n, 1n, rounded]],
    [steps, [...chosen, 0, 0n, -2n * (2n ** 53n + 1n)], [2n ** 53n, 2n ** 53n + 2n, 1n, 1, 1.5, rounded]],
  ]
  for (const [schema, right, wrong] of cases) {
    const problemOf = createValidator(shared).problem(schema, 'response')
    const serialize = compileSerializer(shared, schema)
    for (const value of right) {
      t.equal(problemOf(value), undefined)
      t.equal(serialize(value) ?? createSerializer(shared, schema)(value), String(value))
    }
    for (const value of wrong) {
      t.not(problemOf(value), undefined)
      t.equal(serialize(value), undefined)
    }
  }
  const serialize = compileSerializer(shared, steps)
  t.equal(serialize(2n ** 53n + 1n), '9007199254740993', 'multipleOf needs no validator')
  const anyType = compileSerializer(shared, { 'x-exact-multipleOf': '9007199254740993' })
  t.strictSame(
    [0, 1.5, 'a'].map((value) => anyType(value)),
    ['0', undefined, '"a"'],
  )
})

t.test('properties are separated and quoted, whichever are required, sent and strings', async (t) => {
  const types = { a: 'integer', b: 'string' }
  const kinds = Object.keys(types).flatMap((kind) => [kind, `${kind}?`]) as (`${keyof typeof types}` | 'a?' | 'b?')[]
  const shapes = kinds.flatMap((one) => kinds.flatMap((two) => kinds.map((three) => [one, two, three])))
  for (const shape of shapes) {
    const members = shape.map((kind, index) => ({
      name: `${kind[0]}${index}`,
      type: types[kind[0] as 'a' | 'b'],
      kind,
    }))
    const required = members.filter(({ kind }) => kind.length === 1).map(({ name }) => name)
    const properties = Object.fromEntries(members.map(({ name, type }) => [name, { type }]))
    const serialize = compileSerializer(shared, { type: 'object', required, properties })
    for (let sent = 0; sent < 8; sent++) {
      const value = Object.fromEntries(
        members.flatMap(({ name, type }, index) => (sent & (1 << index) ? [[name, type === 'string' ? 'x' : 1]] : [])),
      )
      const isComplete = required.every((name) => name in value)
      t.equal(serialize(value), isComplete ? JSON.stringify(value) : undefined)
    }
  }
})

t.test('a chain of unions with null has one function, whatever its length', async (t) => {
  const length = 5_000
  const chain: Record<string, Schema> = {
    [`Union${length}`]: { type: 'object', properties: { a: { type: 'string' } } },
  }
  for (let index = 0; index < length; index++) {
    const next = { $ref: `Union${index + 1}#` }
    chain[`Union${index}`] = index % 2 === 0 ? { anyOf: [next, { type: 'null' }] } : next
  }
  const generator = new SerializerGenerator(chain)
  generator.nameOf({ $ref: 'Union0#' })
  t.equal(generator.code().match(/^function /gm)?.length, 2)
  const serialize = compileSerializer(chain, { $ref: 'Union0#' })
  t.same(
    [null, { a: 'b' }, 1].map((value) => serialize(value)),
    ['null', '{"a":"b"}', undefined],
  )
})

t.test('a union with null that contains only itself is left to the validator', async (t) => {
  const cycle = {
    First: { anyOf: [{ $ref: 'Second#' }, { type: 'null' }] },
    Second: { anyOf: [{ type: 'null' }, { $ref: 'First#' }] },
  }
  t.equal(compileSerializer(cycle, { $ref: 'First#' })({}), undefined)
})
