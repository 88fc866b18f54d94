import t from 'tap'
import { int64Responses } from '../../src/compile/emit/client-table.ts'

const int64 = { type: 'integer', format: 'int64' }
const int32 = { type: 'integer', format: 'int32' }

/** Returns the table of a document with one response of the given schema. */
const repliesOf = (schema: object, schemas: object = {}, type = 'application/json') =>
  int64Responses({
    openapi: '3.1.0',
    info: { title: 'a', version: '1.0.0' },
    paths: { '/a': { get: { responses: { 200: { content: { [type]: { schema } } }, 204: {} } } } },
    components: { schemas },
  })

const placesOf = (schema: object, schemas?: object) => {
  const { table, problems } = repliesOf(schema, schemas)
  t.same(problems, [])
  return table.nodes
}

t.test('the table lists only responses with an int64', async (t) => {
  const empty = { table: { nodes: [], responses: {} }, problems: [] }
  t.same(repliesOf(int32), empty)
  t.same(repliesOf(int64, {}, 'text/plain'), empty)
  const held = { table: { nodes: [{ int64: true }], responses: { 'GET /a': { 200: 0, 204: null } } }, problems: [] }
  t.same(repliesOf(int64), held)
  t.same(repliesOf({ ...int64, format: 'uint64' }), held)
  t.same(repliesOf({ ...int64, type: ['integer', 'null'] }, {}, 'application/problem+json'), held)
})

t.test('every keyword that leads to an int64 is followed', async (t) => {
  const id = { properties: { id: int64, name: { type: 'string' } } }
  const place = [{ members: { id: 1 } }, { int64: true }]
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) t.same(placesOf({ [keyword]: [{}, id] }), place, keyword)
  t.same(placesOf({ dependentSchemas: { name: id } }), place)
  for (const keyword of ['then', 'else']) t.same(placesOf({ if: {}, [keyword]: id }), place, keyword)
  for (const keyword of ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems']) {
    t.same(placesOf({ [keyword]: int64 }), [{ others: 1 }, { int64: true }], keyword)
  }
  t.same(placesOf({ patternProperties: { '^x': int64 } }), [{ others: 1 }, { int64: true }])
  t.same(placesOf({ prefixItems: [int32, int64], items: int32 }), [{ members: { 1: 1 } }, { int64: true }])
})

t.test('schemas may be recursive and have siblings of a $ref', async (t) => {
  const tree = { $ref: '#/components/schemas/Tree' }
  const Tree = { properties: { up: tree, list: { items: tree }, id: int64 } }
  t.same(placesOf(tree, { Tree }), [{ members: { up: 0, list: 1, id: 2 } }, { others: 0 }, { int64: true }])
})

t.test('a property of one branch is an additional property in another', async (t) => {
  const branches = { anyOf: [{ properties: { id: { type: 'string' } } }, { additionalProperties: int64 }] }
  t.same(placesOf(branches), [{ members: { id: 1 }, others: 2 }, { int64: true }, { int64: true }])
  const named = { properties: { id: { type: 'string' } }, additionalProperties: int64 }
  t.same(placesOf(named), [{ members: { id: null }, others: 1 }, { int64: true }])
})

t.test('a number that may have a fraction in some branches is reported with its location', async (t) => {
  const branches = [{ properties: { id: int64 } }, { properties: { id: { type: 'number' } } }]
  const { problems } = repliesOf({ items: { oneOf: branches } })
  t.same(problems, [
    '#/paths/~1a/get/responses/200/*/id: a number is an int64 in one schema and may have a fraction in another; use one type in both',
  ])
})

t.test('a number of a request that may have a fraction in some branches is reported', async (t) => {
  const schema = { properties: { id: { anyOf: [int64, { type: 'number' }] } } }
  const { table, problems } = int64Responses({
    openapi: '3.1.0',
    info: { title: 'a', version: '1.0.0' },
    paths: {
      '/a': { post: { requestBody: { content: { 'application/json': { schema } } }, responses: { 204: {} } } },
    },
  } as never)
  t.same(table, { nodes: [], responses: {} })
  t.same(problems, [
    '#/paths/~1a/post/requestBody/id: a number is an int64 in one schema and may have a fraction in another; use one type in both',
  ])
})
