import type { Schema } from 'fastify-contract/contract'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { assignability } from '../../src/emit/assignable-values.ts'
import { exampleOf, filledExampleOf, generatedCount, generatedValue } from '../../src/examples/schema-values.ts'

const length = 1000
const text = { type: 'string' }
const reference = (index: number) => ({ $ref: `#/components/schemas/S${index}` })
const object = (next: object, more: object = { required: ['next'] }) => ({
  type: 'object',
  properties: { next },
  ...more,
})

const documentOf = (schemas: object): Document =>
  ({ openapi: '3.1.0', info: { title: '', version: '' }, paths: {}, components: { schemas } }) as never

/** How a schema holds the next one, and the depth of the value of a thousand such schemas. */
const holders: [name: string, hold: (next: object) => object, depth: number][] = [
  ['a reference', (next) => next, 0],
  ['an allOf', (next) => ({ allOf: [next, { description: 'one of many' }] }), 0],
  ['an anyOf', (next) => ({ anyOf: [next, { type: 'null' }] }), 0],
  ['a oneOf', (next) => ({ oneOf: [{ type: 'integer' }, next] }), 0],
  ['a required member', (next) => object(next), 129],
  ['an optional member', (next) => object(next, {}), 5],
  ['a member with alternatives', (next) => object({ anyOf: [next, { type: 'null' }] }), 129],
  ['an item', (next) => ({ type: 'array', items: next, minItems: 1 }), 129],
  // A condition that cannot be met costs the whole value.
  ['a condition', (next) => ({ ...object({ const: 1 }), dependentSchemas: { next } }), 0],
]

function depthOf(value: unknown): number {
  let depth = 0
  for (let below = value; typeof below === 'object' && below !== null; below = Object.values(below)[0]) depth++
  return depth
}

t.test(
  'the value of a thousand schemas, each of which holds the next one, is made without deep recursion',
  async (t) => {
    for (const [name, hold, depth] of holders) {
      const chain: Record<string, object> = { [`S${length}`]: text }
      for (let index = 0; index < length; index++) chain[`S${index}`] = hold(reference(index + 1))
      let nested: object = text
      for (let index = 0; index < length; index++) nested = hold(nested)
      const cases: [Document, Schema][] = [
        [documentOf(chain), reference(0)],
        [documentOf({}), nested as Schema],
      ]
      for (const [document, schema] of cases) {
        t.equal(depthOf(exampleOf(document, schema)), depth, name)
        t.equal(depthOf(filledExampleOf(document, schema)), depth, `${name} in a request`)
        for (let index = 0; index < generatedCount; index++)
          t.ok(depthOf(generatedValue(document, schema, index)) <= 129)
        t.type(assignability(document)(schema, exampleOf(document, schema)), 'boolean')
      }
    }
  },
)

t.test('a schema behind a thousand references has a value', async (t) => {
  const chain = Object.fromEntries(Array.from({ length }, (_, index) => [`S${index}`, reference(index + 1)]))
  t.equal(exampleOf(documentOf({ ...chain, [`S${length}`]: text }), reference(0)), 'text')
})
