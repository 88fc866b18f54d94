import t from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { unsatisfiableSchemas } from '../../src/compile/rules/unsatisfiable-schemas.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const documentOf = (schemas: object): Document => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  components: { schemas },
})
const problems = (schemas: object) => unsatisfiableSchemas(documentOf(schemas))
const line = (place: string, reason: string) =>
  `#/components/schemas/${place}: no value satisfies it: ${reason}; correct the schema`

const text = { type: 'string' }
const integer = { type: 'integer' }

t.test('an unsatisfiable schema is reported with the reason', async (t) => {
  const cases: [schema: object, reason: string][] = [
    [{ allOf: [text, { type: 'object' }] }, 'its types exclude each other'],
    [{ ...ref('Text'), type: ['integer', 'null'] }, 'its types exclude each other'],
    [{ allOf: [{ enum: ['a', 'b'] }, { const: 'c' }] }, '["a","b"] and ["c"] have no value in common'],
    [{ type: 'integer', enum: ['1', 1.5] }, '["1",1.5] contains no value of the allowed types'],
    [{ ...text, minLength: 3, maxLength: 2 }, 'minLength 3 is above maxLength 2'],
    [{ type: 'array', minItems: 1, allOf: [{ maxItems: 0 }] }, 'minItems 1 is above maxItems 0'],
    [{ type: 'object', minProperties: 2, maxProperties: 1 }, 'minProperties 2 is above maxProperties 1'],
    [{ type: 'number', minimum: 1, maximum: 0 }, 'minimum 1 is above maximum 0'],
    [{ type: 'number', minimum: 1, exclusiveMaximum: 1 }, 'its exclusive limits leave no number'],
    [{ type: 'number', exclusiveMinimum: 1, maximum: 1 }, 'its exclusive limits leave no number'],
    [{ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1 }, 'its exclusive limits leave no number'],
    [{ ...integer, minimum: 0.2, maximum: 0.8 }, 'its limits leave no integer'],
    [{ ...integer, exclusiveMinimum: 1, exclusiveMaximum: 2 }, 'its limits leave no integer'],
    [{ type: 'object', required: ['a'], properties: { a: false } }, 'a: nothing is allowed there'],
    [
      {
        allOf: [
          { type: 'object', additionalProperties: false },
          { required: ['a'], properties: { a: text } },
        ],
      },
      'a: nothing is allowed there',
    ],
    [
      { type: 'object', required: ['a1'], properties: { a1: text }, patternProperties: { '^a': integer } },
      'a1: its types exclude each other',
    ],
    [{ type: 'array', minItems: 1, items: false }, 'items: nothing is allowed there'],
    [{ type: 'array', minItems: 1, prefixItems: [false] }, 'items: nothing is allowed there'],
    [{ ...text, oneOf: [integer, { enum: [1] }] }, '[1] contains no value of the allowed types'],
    [{ ...text, anyOf: [integer, false] }, 'its types exclude each other'],
    [{ anyOf: [false, { $ref: '#/components/schemas/Nothing' }] }, 'no alternative can be satisfied'],
    [{ type: 'object', required: ['a'], properties: { a: ref('Nothing') } }, 'a: nothing is allowed there'],
    [
      { ...integer, oneOf: [{ minimum: 3 }, text], anyOf: [{ maximum: 2 }, { const: 'a' }] },
      'its types exclude each other',
    ],
  ]
  for (const [schema, reason] of cases) {
    t.same(problems({ Text: text, Nothing: false, A: schema }), [line('A', reason)], JSON.stringify(schema))
  }
})

t.test('an unsatisfiable schema is reported where it is defined, not where it is referenced', async (t) => {
  const Bad = { ...text, minLength: 3, maxLength: 2 }
  const Holder = {
    type: 'object',
    required: ['bad'],
    properties: { bad: ref('Bad'), more: { ...integer, enum: ['a'] } },
  }
  const List = { type: 'array', minItems: 1, items: ref('Holder') }
  const Union = { oneOf: [ref('Holder'), { allOf: [ref('Bad')] }] }
  t.same(problems({ Holder, List, Union, Bad }), [
    line('Holder/properties/more', '["a"] contains no value of the allowed types'),
    line('Bad', 'minLength 3 is above maxLength 2'),
  ])
})

t.test('a schema that requires itself is reported, unless the recursion can end', async (t) => {
  const holding = (schema: object) => ({ type: 'object', required: ['next'], properties: { next: schema } })
  const endless = 'each value would have to contain another one, without end'
  t.same(problems({ A: holding(ref('A')) }), [line('A', `next: ${endless}`)])
  t.same(problems({ A: holding(ref('B')), B: holding(ref('A')) }), [
    line('A', `next: ${endless}`),
    line('B', `next: ${endless}`),
  ])
  t.same(problems({ A: holding({ anyOf: [ref('A'), { type: 'null' }] }) }), [])
  t.same(problems({ A: holding({ type: 'array', items: ref('A') }) }), [])
  t.same(problems({ A: { ...holding(ref('A')), required: [] } }), [])
})

t.test('a satisfiable schema is not reported', async (t) => {
  const cases: object[] = [
    { allOf: [{ type: 'number' }, integer], oneOf: [true] },
    { allOf: [integer, { type: 'number' }], enum: [1, 'a'] },
    { minLength: 3, maxLength: 2 },
    { type: ['string', 'null'], minLength: 3, maxLength: 2 },
    { type: 'object', required: ['a'], allOf: [{ properties: { a: text } }], unevaluatedProperties: false },
    { type: 'object', required: ['a'], patternProperties: { '^a': text }, additionalProperties: false },
    // The match takes too long, so its result is unknown.
    {
      type: 'object',
      required: ['x'.repeat(60)],
      patternProperties: { '^(\\w+)+!$': text },
      additionalProperties: false,
    },
    { type: 'object', properties: { a: false } },
    { type: 'array', items: false },
    { allOf: [false] },
    { enum: [] },
    { anyOf: [false, text] },
    { not: { type: 'string', enum: [1] }, if: { type: 'string', enum: [1] } },
    { not: { properties: { a: { type: 'string', enum: [1] } } } },
    { ...integer, exclusiveMinimum: 0, exclusiveMaximum: 2 },
    { enum: [{ a: 1 }, null], const: { a: 1 } },
    { type: 'array', minItems: 1 },
    { type: 'boolean', oneOf: [{ const: true }, { const: false }], anyOf: [{ type: 'string' }, {}] },
  ]
  for (const schema of cases) t.same(problems({ A: schema }), [], JSON.stringify(schema))
})

t.test('the check of a schema that requires itself through a $ref terminates', async (t) => {
  const A = { ...ref('B'), type: 'object', required: ['next'], properties: { next: ref('A') } }
  t.same(problems({ A, B: { properties: { next: {} } } }), [])
})

t.test('a schema that requires itself beside a reference is reported', async (t) => {
  const A = { ...ref('B'), type: 'object', required: ['next'], properties: { next: ref('A') } }
  t.same(problems({ A, B: {} }), [line('A', 'next: each value would have to contain another one, without end')])
})

t.test('circular and long chains of references terminate', async (t) => {
  t.same(problems({ A: ref('B'), B: ref('A') }), [])
  const holding = (schema: object) => ({ type: 'object', required: ['next'], properties: { next: schema } })
  const chain = (count: number, last: object) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `S${index}`,
        index + 1 === count ? last : holding(ref(`S${index + 1}`)),
      ]),
    )
  t.same(problems(chain(2000, text)), [])
  t.same(problems(chain(2000, ref('S0'))), [], 'a cycle of that length is not detected')
  t.same(problems(chain(2000, { type: 'string', enum: [1] })), [
    line('S1999', '[1] contains no value of the allowed types'),
  ])
  const circle = problems(chain(20, holding(ref('S0'))))
  t.equal(circle.length, 20)
})

t.test('properties that have the names of keywords are checked', async (t) => {
  const never = () => ({ type: 'string', enum: [1] })
  t.same(problems({ A: { properties: { if: never(), not: { properties: { a: never() } } } }, not: never() }), [
    line('A/properties/if', '[1] contains no value of the allowed types'),
    line('A/properties/not/properties/a', '[1] contains no value of the allowed types'),
    line('not', '[1] contains no value of the allowed types'),
  ])
})

t.test('the check of many combined alternatives terminates', async (t) => {
  const alternatives = Array.from({ length: 10 }, (_, index) => ({ const: index }))
  const allOf = Array.from({ length: 30 }, (_, index) => ({
    oneOf: alternatives.map(({ const: value }) => ({ properties: { [`p${index}`]: { const: value } } })),
  }))
  t.same(problems({ A: { ...text, allOf: [...allOf, { anyOf: [{ type: 'string', enum: [1] }] }] } }).length, 1)
  t.same(problems({ A: { type: 'object', allOf: [...allOf, { oneOf: [text, integer] }] } }), [])
})

t.test('a discriminator and the schema that it names must agree', async (t) => {
  const kind = (value: string) => ({ type: 'object', required: ['kind'], properties: { kind: { enum: [value] } } })
  const union = (mapping?: object) => ({
    oneOf: [ref('Cat'), ref('Dog')],
    discriminator: { propertyName: 'kind', mapping },
  })
  const document = (mapping?: object) => ({
    ...documentOf({ Cat: kind('cat'), Dog: kind('Dog'), Pet: union(mapping) }),
    paths: {},
  })
  await t.rejects(compileDocument(document(), 'a.yaml'), {
    message: `a.yaml cannot be served as written:\n  ${line('Pet/oneOf/0', 'kind: ["cat"] and ["Cat"] have no value in common')}`,
  })
  t.match((await compileDocument(document({ cat: 'Cat' }), 'a.yaml')).files, { 'api.d.ts': /Pet:/ })
})
