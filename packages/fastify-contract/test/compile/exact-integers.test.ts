import { join } from 'node:path'
import t from 'tap'
import {
  exactIntegers,
  exactJson,
  withExactLimits,
  withExactUnions,
} from '../../src/compile/document/exact-integers.ts'

const documentOf = (schemas: object) => ({ openapi: '3.1.0', paths: {}, components: { schemas } })

t.test('the digits of a document are those of its source files', async (t) => {
  const directory = t.testdir({
    'openapi.yaml': `
      a: { maximum: 1152921504606846975, $ref: 'parts/b.yaml#/c' }
      b: { $ref: "#/a" }
      c: { $ref: https://example.com/c.json }
      d: { $ref: missing.yaml }
    `,
    parts: {
      'b.yaml': '{"c": {"minimum":-9223372036854775808, "$ref": "c%20d.yaml"}}',
      'c d.yaml': 'e: 18446744073709551615',
    },
  })
  const bundled = documentOf({ A: { maximum: 2 ** 60, minimum: -(2 ** 63), enum: [2 ** 64] } })
  const integers = await exactIntegers(bundled, join(directory, 'openapi.yaml'))
  t.same(integers, new Map([1152921504606846975n, -(2n ** 63n), 2n ** 64n - 1n].map((one) => [Number(one), one])))
  t.equal(
    exactJson({ a: [2 ** 60, 2 ** 70, 1, 0.5, '1152921504606846975'] }, integers).replaceAll(/\s/g, ''),
    '{"a":[1152921504606846975,1.1805916207174113e+21,1,0.5,"1152921504606846975"]}',
  )
  t.same(await exactIntegers(documentOf({ A: { maximum: 5 } }), 'not read'), new Map())
})

t.test('a double that stands for two integers of the sources has no digits', async (t) => {
  const directory = t.testdir({ 'openapi.yaml': 'a: 9223372036854775807\nb: 9223372036854775808\nc: 9007199254740993' })
  const integers = await exactIntegers(documentOf({ A: { const: 2 ** 63 } }), join(directory, 'openapi.yaml'))
  t.same(integers, new Map([[2 ** 53, 9007199254740993n]]))
})

t.test('a limit beyond the doubles becomes an exact keyword, unless its schema has doubles', async (t) => {
  const limits = { minimum: -(2 ** 60), maximum: 2 ** 60 }
  const integers = new Map([
    [2 ** 60, 2n ** 60n - 1n],
    [-(2 ** 60), -(2n ** 60n)],
  ])
  const { components } = withExactLimits(
    documentOf({
      Long: { type: ['integer', 'null'], ...limits, exclusiveMaximum: 5, 'x-exact-maximum': 'of the author' },
      Double: { type: 'number', ...limits },
      Unknown: { type: 'integer', maximum: 2 ** 61 },
    }),
    integers,
  )
  t.same(components.schemas, {
    Long: {
      type: ['integer', 'null'],
      'x-exact-minimum': '-1152921504606846976',
      'x-exact-maximum': '1152921504606846975',
      exclusiveMaximum: 5,
    },
    Double: { type: 'number', ...limits },
    Unknown: { type: 'integer', maximum: 2 ** 61 },
  })
})

t.test('an integer is an int64 wherever another schema of the same value is one', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const plain = { type: 'integer' }
  const unchanged = documentOf({ A: { anyOf: [int64, { type: 'string' }] } })
  t.equal(withExactUnions(unchanged), unchanged)
  const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const requestBody = { content: { 'application/json': { schema: { anyOf: [schema('A'), schema('B')] } } } }
  const responses = { 200: { content: { 'application/json': { schema: schema('D') } } } }
  const schemas = {
    A: { properties: { n: int64 } },
    B: { properties: { n: schema('C') } },
    C: { ...plain, format: 'int32', maximum: 7 },
    // Becomes an int64 only because C did.
    D: { if: { type: 'integer' }, anyOf: [schema('C'), plain] },
    E: { ...plain },
  }
  const document = { ...documentOf(schemas), paths: { '/': { post: { requestBody, responses } } } }
  t.same(withExactUnions(document).components.schemas, {
    ...schemas,
    C: { ...int64, minimum: -(2 ** 31), maximum: 7 },
    D: { if: int64, anyOf: [schema('C'), int64] },
  })
  t.same(document.components.schemas, schemas, 'the given document keeps its schemas')
})
