import fc from 'fast-check'
import t from 'tap'
import type { Schema } from '../../src/serve/schema-keywords.ts'
import { createSerializer } from '../../src/serve/serializer.ts'
import { createValidator } from '../../src/serve/validator.ts'

/** PROPERTY_RUNS=100000 tests more pairs of a schema and a valid value. */
const pairs = Number(process.env.PROPERTY_RUNS ?? 2_000)

const names = ['a', 'b', 'c', 'x-d']
const name = fc.constantFrom(...names)
const nameList = fc.uniqueArray(name, { minLength: 1, maxLength: 2 })
const mapOf = <T>(values: fc.Arbitrary<T>) =>
  fc.dictionary(name, values, { minKeys: 1, maxKeys: 2, noNullPrototype: true })

const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, 1, 'a'),
    tie('object'),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

const { schema } = fc.letrec<{ schema: Schema; keywords: Schema }>((tie) => {
  const one = tie('schema')
  const some = fc.array(one, { minLength: 1, maxLength: 2 })
  const objects = {
    properties: mapOf(one),
    required: nameList,
    additionalProperties: one,
  }
  const rare = {
    type: fc.constantFrom('object', 'array', ['object', 'null']),
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: one,
    if: one,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: one,
    else: one,
    $ref: fc.constantFrom('Node#', 'Pair#', 'Union#'),
    minProperties: fc.constantFrom(1, 2),
    maxProperties: fc.constantFrom(1, 2),
    patternProperties: fc.record({ '^x-': one }),
    propertyNames: fc.constant({ pattern: '^[ab]' }),
    dependentRequired: mapOf(nameList),
    dependentSchemas: mapOf(one),
    unevaluatedProperties: one,
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 2 }),
    items: one,
    prefixItems: some,
    contains: one,
    uniqueItems: fc.constant(true),
    unevaluatedItems: one,
  }
  const entries = Object.entries(rare).map(([keyword, of]) => of.map((value) => ({ [keyword]: value })))
  const extra = fc.array(fc.oneof(...entries), { maxLength: 2 }).map((all) => Object.assign({}, ...all))
  const listed = fc.record(objects, { requiredKeys: [] })
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom<Schema>(true, {}),
      tie('keywords'),
      tie('keywords'),
    ),
    keywords: fc.tuple(listed, extra).map(([object, rest]) => ({ ...object, ...rest })) as fc.Arbitrary<Schema>,
  }
})

const shared: Record<string, Schema> = {
  Node: { type: 'object', properties: { a: { $ref: 'Node#' }, b: true } },
  Pair: { allOf: [{ $ref: 'Node#' }, { properties: { c: { $ref: 'Union#' } } }] },
  Union: { anyOf: [{ $ref: 'Node#' }, { type: 'null' }] },
}

/** Throws unless `sent` is `given` without some members of objects. */
function assertPart(sent: unknown, given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    if (sent !== given) throw new Error(`${JSON.stringify(given)} was sent as ${JSON.stringify(sent)}`)
    return
  }
  const [own, all] = [Object.entries(sent as object), given as Record<string, unknown>]
  if (Array.isArray(given) && own.length !== given.length) throw new Error('an item was not sent')
  for (const [key, member] of own) assertPart(member, all[key])
}

/** Keywords that may depend on any member of a value. */
const dependent = [
  'not',
  'if',
  'minProperties',
  'dependentRequired',
  'dependentSchemas',
  'const',
  'enum',
  'uniqueItems',
]

/** Throws unless the members that the root of a schema says are sent, where it is simple enough to say so. */
function assertRule(schema: object, sent: unknown, given: unknown): void {
  const keywords = Object.keys(schema)
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (
    keywords.some((keyword) => dependent.includes(keyword)) ||
    !/"(properties|patternProperties|\$ref)":/.test(JSON.stringify(schema))
  ) {
    if (JSON.stringify(sent) !== JSON.stringify(given)) throw new Error('a member is missing')
  } else if (isObject && keywords.every((keyword) => keyword === 'properties' || keyword === 'type')) {
    const { properties } = schema as { properties: object }
    const listed = Object.keys(properties).filter((name) => Object.hasOwn(given, name))
    if (Object.keys(sent as object).join() !== listed.join()) throw new Error('other members than the listed ones')
  }
}

t.test('a response that is valid is sent valid, and loses only members that its schema does not list', async (t) => {
  let validator = createValidator(shared)
  let schemas = 0
  let valid = 0
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 30, maxLength: 30 }), (schema, values) => {
      const rooted = typeof schema === 'object' ? schema : {}
      // Ajv keeps each compiled schema.
      if (++schemas % 500 === 0) validator = createValidator(shared)
      const assertValid = validator.response(rooted)
      const serialize = createSerializer(shared, rooted)
      for (const value of values) {
        try {
          assertValid(value)
        } catch {
          continue
        }
        valid++
        const sent: unknown = JSON.parse(serialize(value))
        assertValid(sent)
        assertPart(sent, value)
        assertRule(rooted, sent, value)
      }
    }),
    { numRuns: Math.ceil(pairs / 10), interruptAfterTimeLimit: 600_000 },
  )
  t.comment(`${valid} pairs of a schema and a valid value`)
  t.ok(valid >= pairs)
})
