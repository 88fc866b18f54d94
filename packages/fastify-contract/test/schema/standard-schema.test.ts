import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import type { StandardSchema } from '../../src/schema/standard-schema.ts'
import { createValidator } from '../../src/schema/validator.ts'
import { compileRoutes } from '../support/serve-document.ts'

const string = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Returns a validator of a document with these shared schemas. */
function validatorOf(schemas: Record<string, object>) {
  const content = (name: string) => ({ 'application/json': { schema: ref(name) } })
  const paths = Object.keys(schemas).map((name) => [
    `/${name}`,
    {
      post: {
        operationId: name,
        requestBody: { content: content(name) },
        responses: { 204: { description: 'Done.' } },
      },
    },
  ])
  const document = {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.0.0' },
    paths: Object.fromEntries(paths),
    components: { schemas },
  }
  return createValidator(compileRoutes(document as Document).schemas)
}

type Pet = { id: bigint; name: string; tags?: string[]; mother?: Pet }

const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: int64,
    name: { ...string, minLength: 1 },
    tags: { type: 'array', items: string },
    mother: ref('Pet'),
    weight: { type: 'number' },
    count: { type: 'integer' },
    'a/b~c': string,
    created: { ...string, readOnly: true },
  },
}

const schema = validatorOf({ Pet: pet }).standard<Pet>({ $ref: 'Pet.request#' })

/** Returns the valid value, or the paths and messages of the issues. */
function validated<Input, Output>(schema: StandardSchema<Input, Output>, value: unknown): unknown {
  const result = schema['~standard'].validate(value)
  return result.issues === undefined ? result.value : result.issues.map(({ path, message }) => [path, message])
}

t.test('a valid value is copied, with int64 integers as bigint', async (t) => {
  const given = {
    id: 7,
    name: 'Rex',
    tags: undefined,
    weight: 1e300,
    mother: { id: 2n ** 63n - 1n, name: 'Ada' },
    created: 'today',
    more: { a: [1, null, true] },
  }
  const before = structuredClone(given)
  t.strictSame(validated(schema, given), {
    id: 7n,
    name: 'Rex',
    weight: 1e300,
    mother: { id: 2n ** 63n - 1n, name: 'Ada' },
    more: { a: [1, null, true] },
  })
  t.strictSame(given, before, 'the given value is unchanged')
  t.strictSame(validated(schema, JSON.parse('{"id":1,"name":"Rex","__proto__":{"a":1}}')), {
    id: 1n,
    name: 'Rex',
    ...JSON.parse('{"__proto__":{"a":1}}'),
  })
  t.strictSame(validated(schema, Object.assign(Object.create(null), { id: 1, name: 'Rex' })), { id: 1n, name: 'Rex' })
})

t.test('each issue has the path of its value', async (t) => {
  t.strictSame(validated(schema, { name: '', tags: ['a', 7], mother: { id: '1' }, 'a/b~c': 1 }), [
    [['id'], "must have required property 'id'"],
    [['name'], 'must NOT have fewer than 1 characters'],
    [['tags', 1], 'must be string'],
    [['mother', 'name'], "must have required property 'name'"],
    [['mother', 'id'], 'must be an int64 integer'],
    [['a/b~c'], 'must be string'],
  ])
  t.strictSame(validated(schema, null), [[[], 'must be object']])
  t.strictSame(validated(schema, { id: 1.5, name: 'Rex' }), [[['id'], 'must be an int64 integer']])
  t.strictSame(validated(schema, { id: 2n ** 63n, name: 'Rex' }), [[['id'], 'must be an int64 integer']])
})

t.test('an integer that may have been rounded is refused where a bigint is expected', async (t) => {
  const message = `must be a bigint, or an integer up to ${Number.MAX_SAFE_INTEGER}: a larger number may have been rounded`
  t.strictSame(validated(schema, { id: 2 ** 53, name: 'Rex' }), [[['id'], message]])
  t.strictSame(validated(schema, { id: 1, name: 'Rex', mother: { id: -(2 ** 60), name: 'Ada' } }), [
    [['mother', 'id'], message],
  ])
  t.strictSame(validated(schema, { id: 2 ** 53 - 1, name: 'Rex' }), { id: 2n ** 53n - 1n, name: 'Rex' })
  t.strictSame(validated(schema, { id: 2n ** 53n, name: 'Rex' }), { id: 2n ** 53n, name: 'Rex' })
})

t.test('a bigint is refused where a double would round it', async (t) => {
  t.match(validated(schema, { id: 1, name: 'Rex', weight: 2n ** 53n + 1n }), [[['weight'], /^must be a number that/]])
  t.match(validated(schema, { id: 1, name: 'Rex', count: 2n ** 53n + 1n }), [[['count'], /^must be an integer from/]])
  t.strictSame(validated(schema, { id: 1, name: 'Rex', weight: 5n, count: 6n }), {
    id: 1n,
    name: 'Rex',
    weight: 5,
    count: 6,
  })
})

t.test('a value that JSON does not have is refused', async (t) => {
  const anything = createValidator({}).standard({})
  const issue = (value: unknown, path: unknown[], message: string | RegExp) =>
    t.match(validated(anything, { a: [value] }), [[path, message]], String(value))
  class Point {}
  for (const value of [undefined, () => 1, Symbol('a'), new Date(0), new Map(), new Point()]) {
    issue(value, ['a', 0], 'must be a JSON value')
    t.strictSame(validated(anything, value), [[[], 'must be a JSON value']])
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) issue(value, ['a', 0], 'must be a finite number')
  for (const text of ['a\0', '\ud800', '\udc00a']) {
    issue(text, ['a', 0], 'must contain neither U+0000 nor a lone surrogate')
    issue({ [text]: 1 }, ['a', 0, text], 'the name must contain neither U+0000 nor a lone surrogate')
  }
  t.strictSame(validated(anything, '\ud83c\udf31'), '\ud83c\udf31')
  const cyclic: { a?: object } = {}
  cyclic.a = cyclic
  const deepest = Array.from({ length: 128 }, () => 'a')
  t.strictSame(validated(anything, cyclic), [[deepest, 'must not be nested deeper than 128 levels']])
})

t.test('the issues of a large value are bounded', async (t) => {
  const small = validated(schema, { id: 1, name: 'a', tags: Array.from({ length: 50 }, () => 1) }) as unknown[]
  t.equal(small.length, 10)
  const large = validated(schema, { id: 1, name: 'a'.repeat(20_000), tags: [1, 1] }) as unknown[]
  t.equal(large.length, 1, 'only the first is looked for')
})

t.test('a $ref to no schema of the document is refused', async (t) => {
  const { standard } = validatorOf({ Pet: pet })
  for (const $ref of ['Cat#', 'toString#', '#/components/schemas/Pet'])
    t.throws(() => standard({ $ref }), {
      message: /^there is no schema ".*"; write a name of the shared schemas, then #$/,
    })
})

t.test('the types are those that the caller states', async (t) => {
  const standard: StandardSchemaV1<Pet> & StandardJSONSchemaV1<Pet> = schema
  const output: StandardSchemaV1.InferOutput<typeof schema> = { id: 1n, name: 'Rex' }
  const input: StandardSchemaV1.InferInput<typeof schema> = output
  // @ts-expect-error the id is missing
  const wrong: StandardSchemaV1.InferOutput<typeof schema> = { name: 'Rex' }
  const form = validatorOf({ Pet: pet }).standard<Pet, { id: number; name: string }>({ $ref: 'Pet.request#' })
  const typed: StandardSchemaV1.InferInput<typeof form> = { id: 1, name: 'Rex' }
  const result = form['~standard'].validate(typed)
  const id: bigint = result.issues === undefined ? result.value.id : 0n
  t.equal(id, 1n)
  t.match(standard['~standard'], { version: 1, vendor: 'fastify-contract' })
  t.notSame(wrong, input)
})

const int64Of = (more: object = {}) => ({ ...int64, ...more })

t.test('the JSON Schema of a schema contains the schemas that it refers to', async (t) => {
  const { standard } = validatorOf({
    Pet: { ...pet, properties: { ...pet.properties, owner: { ...ref('Owner'), minProperties: 1 } } },
    Owner: {
      type: 'object',
      properties: {
        id: int64Of({ minimum: 1, maximum: 2n ** 60n }),
        level: int64Of({ enum: [1n, 2n ** 60n] }),
        pets: ref('Pet'),
      },
    },
    Code: { ...string, pattern: '^a+$' },
    // Backtracking takes quadratic time for this one, so the service has an automaton.
    Slow: { ...string, pattern: 'a+b' },
  })
  const { input, output } = standard({ $ref: 'Pet.request#' })['~standard'].jsonSchema
  const written = input({ target: 'draft-2020-12' })
  t.same(output({ target: 'draft-2020-12' }), written)
  const { created: _, ...properties } = pet.properties
  const asPet = {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      ...properties,
      mother: { $ref: '#/$defs/Pet.request' },
      owner: { $ref: '#/$defs/Owner.request', minProperties: 1 },
    },
  }
  t.same(written, {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...asPet,
    $defs: {
      'Pet.request': asPet,
      'Owner.request': {
        type: 'object',
        properties: { id: int64Of({ minimum: 1 }), level: int64, pets: { $ref: '#/$defs/Pet.request' } },
      },
    },
  })
  t.same(standard({ $ref: 'Code#' })['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'string',
    pattern: '^a+$',
  })
  t.match(standard({ $ref: 'Slow#' })['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), { pattern: 'a+b' })
})

t.test('the JSON Schema may be of draft-07', async (t) => {
  const shared: Record<string, Schema> = { A: { type: 'string' } }
  const { standard } = createValidator(shared)
  const written = (schema: Schema) => {
    const { $schema, ...rest } = standard(schema)['~standard'].jsonSchema.input({ target: 'draft-07' })
    t.equal($schema, 'http://json-schema.org/draft-07/schema#')
    return rest
  }
  const $ref = '#/definitions/A'
  const definitions = { A: { type: 'string' } }
  t.same(written({ $ref: 'A#' }), { type: 'string' })
  t.same(written({ items: { $ref: 'A#' } }), { items: { $ref }, definitions })
  t.same(written({ items: { $ref: 'A#', minLength: 1 } }), {
    items: { allOf: [{ $ref }, { minLength: 1 }] },
    definitions,
  })
  t.same(written({ prefixItems: [{ $ref: 'A#' }, true], items: false }), {
    items: [{ $ref }, true],
    additionalItems: false,
    definitions,
  })
  t.same(written({ prefixItems: [true] }), { items: [true] })
  t.same(written({ dependentRequired: { a: ['b'] } }), { dependencies: { a: ['b'] } })
  t.same(written({ dependentRequired: { a: ['b'] }, dependentSchemas: { a: { $ref: 'A#' } } }), {
    allOf: [{ dependencies: { a: { $ref } } }, { dependencies: { a: ['b'] } }],
    definitions,
  })
  t.same([written(true), written(false)], [{}, { not: {} }])
  for (const keyword of ['unevaluatedItems', 'unevaluatedProperties', 'minContains', 'maxContains'])
    t.throws(() => written({ [keyword]: 1 }), {
      message: `${keyword} cannot be expressed in draft-07; use draft-2020-12`,
    })
  for (const target of ['openapi-3.0', 'toString'])
    t.throws(() => schema['~standard'].jsonSchema.input({ target }), {
      message: `unsupported target "${target}"; use draft-2020-12 or draft-07`,
    })
})
