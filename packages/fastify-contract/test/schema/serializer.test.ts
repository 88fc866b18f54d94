import t from 'tap'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { createSerializer } from '../../src/schema/interpreted-serializer.ts'

const text = { type: 'string' }
const schemas: Record<string, Schema> = {
  Plant: { type: 'object', properties: { name: text, tag: text } },
  NewPlant: { allOf: [{ $ref: 'Plant#' }, { properties: { id: { type: 'integer' } } }] },
  Tree: { type: 'object', properties: { name: text, below: { type: 'array', items: { $ref: 'Tree#' } } } },
}
const write = (schema: Schema, value: unknown) => createSerializer(schemas, schema)(value)
const named = (name: string) => ({ $ref: `${name}#` })

t.test('values are written as JSON', async (t) => {
  for (const value of [null, true, 0, -1.5, 1e21, '', 'a"\\\n\u2028\u{1d11e}', [], [1, [2]], {}, { a: { b: [null] } }])
    t.equal(write(true, value), JSON.stringify(value))
})

t.test('every code unit is written as JSON', async (t) => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
  t.same(
    units.filter((unit) => write(text, unit) !== JSON.stringify(unit)),
    [],
  )
})

t.test('a value without a JSON form is written as null', async (t) => {
  t.equal(write(true, [undefined, 1, () => 1]), '[null,1,null]')
})

t.test('a bigint is written to its last digit', async (t) => {
  t.equal(
    write(true, { id: 9223372036854775807n, ids: [-9223372036854775808n, null] }),
    '{"id":9223372036854775807,"ids":[-9223372036854775808,null]}',
  )
})

t.test('undescribed properties are not written', async (t) => {
  const plant = { id: 1n, name: 'a', tag: undefined, secret: 'b' }
  t.equal(write(named('Plant'), plant), '{"name":"a"}')
  t.equal(write(named('NewPlant'), plant), '{"id":1,"name":"a"}')
  t.equal(write({ type: 'array', items: named('Plant') }, [plant, plant]), '[{"name":"a"},{"name":"a"}]')
  t.equal(write({ prefixItems: [named('Plant')] }, [plant]), '[{"name":"a"}]')
})

t.test('additional properties are written where the schema describes them', async (t) => {
  const value = { a: { name: 'a', secret: 1 }, b: 2 }
  t.equal(write({ properties: { b: {} }, additionalProperties: named('Plant') }, value), '{"a":{"name":"a"},"b":2}')
  t.equal(write({ properties: { b: {} }, additionalProperties: true }, value), JSON.stringify(value))
  t.equal(write({ properties: { b: {} }, additionalProperties: false }, value), '{"b":2}')
})

t.test('the properties of all plain schemas are written', async (t) => {
  const schema = { allOf: [{ properties: { a: {} } }, { properties: { b: { properties: { c: {} } } } }] }
  t.equal(write(schema, { a: 1, b: { c: 2, d: 3 }, e: 4 }), '{"a":1,"b":{"c":2}}')
  t.equal(write({ ...named('Plant'), properties: { id: {} } }, { id: 1, name: 'a', x: 1 }), '{"id":1,"name":"a"}')
})

t.test('an object that may be null is written with its listed properties', async (t) => {
  for (const keyword of ['anyOf', 'oneOf']) {
    const schema = { [keyword]: [named('Plant'), { type: 'null' }, { type: ['string', 'number'] }] }
    t.equal(write(schema, { name: 'a', secret: 1 }), '{"name":"a"}')
    t.equal(write(schema, null), 'null')
  }
})

t.test('a value is written as it is where a keyword may depend on undescribed properties', async (t) => {
  const k = { properties: { k: {} } }
  const cases: [schema: Schema, value: object][] = [
    [
      { ...k, required: ['k', 'x'] },
      { k: 1, x: 2 },
    ],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { ...k, if: { properties: { k: { const: 1 } } }, then: { required: ['x'] } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, if: { required: ['z'] }, else: { required: ['x'] } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, minProperties: 2 },
      { k: 1, x: 2 },
    ],
    [
      { ...k, dependentRequired: { k: ['x'] } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, dependentSchemas: { k: { minProperties: 2 } } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, anyOf: [{ required: ['x'] }, { required: ['y'] }] },
      { k: 1, x: 2 },
    ],
    [
      { ...k, not: { maxProperties: 1 } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, const: { k: 1, x: 2 } },
      { k: 1, x: 2 },
    ],
    [
      { ...k, enum: [{ k: 1, x: 2 }] },
      { k: 1, x: 2 },
    ],
    [
      {
        oneOf: [
          { ...k, required: ['k'] },
          { type: 'object', required: ['z'] },
        ],
      },
      { z: 1, x: 2 },
    ],
    [{ anyOf: [k, {}] }, { x: 1 }],
    [{ properties: { a: k }, const: { a: { x: 1 } } }, { a: { x: 1 } }],
    [{ type: 'array', items: k, uniqueItems: true }, [{ x: 1 }, { x: 2 }]],
    [{ type: 'array', items: k, contains: { required: ['x'] } }, [{ x: 1 }]],
    [
      {
        allOf: [
          { additionalProperties: { required: ['x'], properties: { x: {} } } },
          { properties: { b: { properties: { y: {} } } } },
        ],
      },
      { b: { x: 1, y: 2 } },
    ],
  ]
  for (const [schema, value] of cases) t.equal(write(schema, value), JSON.stringify(value), JSON.stringify(schema))
})

t.test('a schema may be recursive', async (t) => {
  const value = { name: 'a', below: [{ name: 'b', below: [], x: 1 }] }
  t.equal(write(named('Tree'), value), '{"name":"a","below":[{"name":"b","below":[]}]}')
  const loop: Schema = { allOf: [named('Loop')] }
  schemas.Loop = loop
  t.equal(write(loop, { a: 1 }), '{"a":1}')
})

t.test('patternProperties and unevaluatedProperties describe members', async (t) => {
  const patterns = { type: 'object', properties: { a: text }, patternProperties: { '^x-': {}, '^x-n': {} } }
  t.equal(write(patterns, { a: 'b', 'x-c': { d: 1n }, 'x-n': 2, e: 3 }), '{"a":"b","x-c":{"d":1},"x-n":2}')
  t.equal(write({ patternProperties: { '^x-': {} } }, { 'x-a': 1, b: 2 }), '{"x-a":1}')
  t.equal(write({ ...named('Plant'), unevaluatedProperties: true }, { name: 'a', b: 2n }), '{"name":"a","b":2}')
  t.equal(write({ ...named('Plant'), unevaluatedProperties: false }, { name: 'a', b: 2n }), '{"name":"a"}')
})

t.test('a writeOnly property is never written', async (t) => {
  const ignored = { 'x-ignored': true }
  const account = { type: 'object', properties: { name: text, key: ignored }, additionalProperties: true }
  t.equal(write(account, { name: 'a', key: 'b', other: 1 }), '{"name":"a","other":1}')
  t.equal(write({ allOf: [account, { properties: { key: text } }] }, { key: 'b' }), '{}')
  t.equal(write({ anyOf: [account, { patternProperties: { k: text } }] }, { key: 'b', kind: 'c' }), '{"kind":"c"}')
  t.equal(write({ properties: { key: ignored } }, { key: 'b', other: 1 }), '{}')
})

t.test('an object with many properties is written with those that its schema lists', async (t) => {
  const names = Array.from({ length: 40 }, (_, n) => `${'x'.repeat(n % 7)}${n}`)
  const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
  const value = Object.fromEntries(names.map((name) => [name, name]))
  t.equal(write(schema, { ...value, other: 1, x0: 2 }), JSON.stringify(value))
  const open = { ...schema, additionalProperties: true }
  t.equal(write(open, { ...value, other: 1 }), JSON.stringify({ ...value, other: 1 }))
})

t.test('the listed properties are written in the order of the schema, without inherited ones', async (t) => {
  t.equal(write(named('Plant'), { tag: 'b', name: 'a', other: 1 }), '{"name":"a","tag":"b"}')
  t.equal(write(named('Plant'), Object.assign(Object.create({ name: 'a' }), { tag: 'b' })), '{"tag":"b"}')
  t.equal(write({ type: 'object', properties: { toString: text } }, {}), '{}')
})

t.test('a member is written by the schemas of all patterns that its name matches', async (t) => {
  const listing = (name: string) => ({ type: 'object', properties: { [name]: {} } })
  const schema = { type: 'object', patternProperties: { a: listing('x'), b: listing('y'), c: text, d: text } }
  const value = { x: 1, y: 2, z: 3 }
  t.equal(
    write(schema, { a: value, b: value, ab: value, c: 'c', cd: 'cd', e: value }),
    '{"a":{"x":1},"b":{"y":2},"ab":{"x":1,"y":2},"c":"c","cd":"cd"}',
  )
})
