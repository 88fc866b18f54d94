import { Ajv2020 } from 'ajv/dist/2020.js'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { bothValidators } from 'fastify-contract-test-support/both-validators'
import { random } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import { parseJson } from '../../src/json/parse-json.ts'
import { createValidator } from '../../src/schema/validator.ts'
import * as engine from '../../src/schema.ts'

// Other schemas would also show the mistakes of plain Ajv in what unevaluatedProperties knows.
const next = random(1)
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item

const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']

/** Returns a boolean schema, or one of some keywords beside any type. */
const below = (depth: number): unknown =>
  depth === 0 || next() < 0.25 ? pick([true, false, {}, { type: pick(types) }]) : schemaOf(depth - 1)

const one = (depth: number) => below(depth)
const two = (depth: number) => [below(depth), below(depth)]

const keywords: Record<string, (depth: number) => unknown> = {
  minLength: () => 1,
  maxLength: () => 2,
  pattern: () => '^a',
  minimum: () => 1,
  maximum: () => 3,
  exclusiveMinimum: () => 0,
  multipleOf: () => 2,
  minItems: () => 1,
  maxItems: () => 2,
  uniqueItems: () => true,
  minProperties: () => 1,
  maxProperties: () => 1,
  required: () => ['a'],
  dependentRequired: () => ({ a: ['b'] }),
  enum: () => ['a', 1, null, { a: 1 }],
  const: () => pick<unknown>(['a', 1, ['a']]),
  items: one,
  prefixItems: two,
  contains: one,
  properties: (depth) => ({ a: below(depth), b: below(depth) }),
  additionalProperties: one,
  patternProperties: (depth) => ({ '^a': below(depth) }),
  propertyNames: () => pick<unknown>([true, false, { maxLength: 1 }]),
  unevaluatedProperties: one,
  dependentSchemas: (depth) => ({ a: below(depth) }),
  allOf: two,
  anyOf: two,
  oneOf: two,
  not: one,
  if: one,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: one,
  else: one,
}

function schemaOf(depth: number): object {
  const names = Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(Object.keys(keywords)))
  const type = next() < 0.5 ? pick(types) : [...new Set([pick(types), pick(types)])]
  return { ...(next() < 0.6 && { type }), ...Object.fromEntries(names.map((name) => [name, keywords[name]?.(depth)])) }
}

const scalars = ['', 'a', 'ab', 'abc', 0, 1, 2, 2.5, true, false, null]
const arrays = [[], ['a'], [1], ['a', 'a'], [1, 'a', null], [{ a: 1 }]]
const objects = [{}, { a: 1 }, { b: 1 }, { a: 'a', b: 2 }, { ab: 1 }, { a: null }, { a: ['a'], c: {} }, { a: { a: 1 } }]

t.test('keywords beside any type, and boolean schemas, are applied as plain Ajv applies them', async (t) => {
  const schemas = Array.from({ length: 100 }, () => schemaOf(2))
  const json = (schema: object) => ({ content: { 'application/json': { schema } } })
  for (const openapi of ['3.1.0', '3.0.4']) {
    const operations = schemas.map((schema, index) => ({
      operationId: `post${index}`,
      'x-mcp': true,
      requestBody: { required: true, ...json(schema) },
      responses: { 200: { description: 'Ok.', ...json(schema) } },
    }))
    const paths = Object.fromEntries(operations.map((post, index) => [`/${index}`, { post }]))
    const document = { openapi, info: { title: 'Schemas', version: '1.0.0' }, paths } as unknown as Document
    const { routes } = await compileDocument(document, 'openapi.yaml')
    const validators = bothValidators(engine, routes)
    const { serializer } = createValidator(routes.schemas)
    const found: string[] = []
    for (const [index, given] of schemas.entries()) {
      const { schema } = routes.operations[index]?.schema.body?.content['application/json'] ?? {}
      const validate = validators.request(schema ?? true, 'body')
      const serialize = serializer(schema ?? true)
      const plain = new Ajv2020({ strict: false, logger: false }).compile(given)
      for (const value of [...scalars, ...arrays, ...objects]) {
        const isValid = 'value' in validate(parseJson(JSON.stringify(value)))
        if (isValid !== plain(value) || isValid !== isSent(() => serialize(value)))
          found.push(`${JSON.stringify(given)} ${JSON.stringify(value)}`)
      }
    }
    t.same(found, [], openapi)
  }
})

function isSent(send: () => unknown): boolean {
  try {
    send()
    return true
  } catch {
    return false
  }
}
