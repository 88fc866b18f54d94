import type { Document, Parameter } from 'fastify-contract-cli/testing'
import { bothValidators } from 'fastify-contract-test-support/both-validators'
import t, { type Test } from 'tap'
import type { Operation } from '../../src/contract/routes.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { headerValidator } from '../../src/request/header-parameters.ts'
import { pathValidator } from '../../src/request/path-parameters.ts'
import { queryValidator } from '../../src/request/query-parameters.ts'
import * as engine from '../../src/schema.ts'
import { compileRoutes } from '../support/serve-document.ts'

/** Compiles a document with one operation that has the given body, parameters and schemas. */
function compile(body: Schema, parameters: Parameter[] = [], schemas: Record<string, Schema> = {}) {
  const content = { 'application/json': { schema: body } }
  const operation = { operationId: 'test', parameters, requestBody: { content }, responses: { 200: { content } } }
  const routes = compileRoutes({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/test/{id}': { post: operation } },
    components: { schemas } as object,
  } as Document)
  return { operation: routes.operations[0] as Operation, validator: bothValidators(engine, routes) }
}

function validating(body: Schema, schemas?: Record<string, Schema>) {
  const { operation, validator } = compile(body, [], schemas)
  const { schema } = operation.schema.body?.content['application/json'] ?? { schema: false }
  const validate = validator.request(schema, 'body')
  return (text: string): unknown => {
    const result = validate(parseJson(text))
    return 'error' in result ? result.error.message : result.value
  }
}

const int64 = { type: 'integer', format: 'int64' }

t.test('int64 values of a body become bigint', async (t) => {
  const id = validating({ type: 'object', properties: { id: int64 } })
  const is = (text: string, value: unknown) => t.same(id(`{"id":${text}}`), value, text)
  is('9223372036854775807', { id: 2n ** 63n - 1n })
  is('-9223372036854775808', { id: -(2n ** 63n) })
  is('9007199254740993', { id: 9007199254740993n })
  is('9.007199254740993e15', { id: 9007199254740993n })
  is('-0', { id: 0n })
  is('1.0', { id: 1n })
  is('1e3', { id: 1000n })
  is('1e18', { id: 10n ** 18n })
  const refused = [
    '9223372036854775808',
    '-9223372036854775809',
    '1e19',
    '1e1000000000',
    '12.5',
    '1e-1',
    '1.00000000000000000001',
  ]
  const others = ['"12"', 'true', 'null', '["a"]', '[1]', '{}', '9007199254740993.5', `1${'0'.repeat(500)}`]
  for (const text of [...refused, ...others]) is(text, 'body/id must be an int64 integer')
})

t.test('int64 becomes bigint in every position', async (t) => {
  t.equal(validating(int64)('9007199254740993'), 9007199254740993n)
  const list = validating({ type: 'array', items: int64 })
  t.same(list('[1,9007199254740993]'), [1n, 9007199254740993n])
  t.equal(list('[1,1.5]'), 'body/1 must be an int64 integer')
  const nullable = validating({ type: 'array', items: { type: ['integer', 'null'], format: 'int64' } })
  t.same(nullable('[null,9007199254740993]'), [null, 9007199254740993n])
  t.equal(nullable('["1"]'), 'body/0 must be an int64 integer or null')
  t.equal(validating({ type: ['boolean', 'null'] })('1'), 'body must be boolean or null')
  const mixed = validating({
    type: 'array',
    items: { type: ['integer', 'string', 'array', 'object'], format: 'int64' },
  })
  t.same(mixed('["1",1,[],{}]'), ['1', 1n, [], {}])
  const tree = { type: 'object', properties: { id: int64, below: { $ref: '#/components/schemas/Tree' } } }
  const recursive = validating({ $ref: '#/components/schemas/Tree' }, { Tree: tree })
  t.same(recursive('{"id":1,"below":{"id":9007199254740993}}'), { id: 1n, below: { id: 9007199254740993n } })
  t.equal(recursive('{"below":{"id":0.5}}'), 'body/below/id must be an int64 integer')
})

t.test('keywords beside int64 are exact', async (t) => {
  const limited = (keywords: object, text: string) => validating({ ...int64, ...keywords })(text)
  t.equal(limited({ multipleOf: 3 }, '9007199254740993'), 9007199254740993n)
  t.equal(limited({ multipleOf: 3 }, '9007199254740992'), 'body must be multiple of 3')
  t.equal(limited({ multipleOf: 0.01 }, '9007199254740993'), 9007199254740993n)
  t.equal(limited({ multipleOf: 2.5 }, '9007199254740995'), 9007199254740995n)
  t.equal(limited({ multipleOf: 2.5 }, '9007199254740993'), 'body must be multiple of 2.5')
  t.equal(limited({ minimum: 5 }, '4'), 'body must be >= 5')
  t.equal(limited({ minimum: 5 }, '5'), 5n)
  t.equal(limited({ maximum: 9007199254740991 }, '9007199254740993'), 'body must be <= 9007199254740991')
  t.equal(limited({ exclusiveMinimum: 5 }, '5'), 'body must be > 5')
  t.equal(limited({ exclusiveMaximum: 5 }, '5'), 'body must be < 5')
  t.equal(limited({ exclusiveMinimum: 5, exclusiveMaximum: 7 }, '6'), 6n)
  t.equal(limited({ enum: [1, 2] }, '3'), 'body must be equal to one of the allowed values')
  t.equal(limited({ enum: [1, 2] }, '2.0'), 2n)
  t.equal(limited({ const: 1 }, '2'), 'body must be equal to constant')
  t.equal(limited({ type: ['integer', 'null'], enum: [1, null] }, 'null'), null)
  t.equal(
    limited({ type: ['integer', 'null'], enum: [1] }, 'null'),
    'body must be an int64 integer; body must be equal to one of the allowed values',
  )
  t.equal(limited({ type: ['integer', 'null'], const: null }, 'null'), null)
})

t.test('int32 rejects values beyond 32 bits', async (t) => {
  const int32 = validating({ type: 'integer', format: 'int32' })
  t.equal(int32('2147483647'), 2147483647)
  for (const text of ['2147483648', '-2147483649', '1.5', '1.00000000000000000001', '"1"'])
    t.equal(int32(text), 'body must be an int32 integer')
})

t.test('uint64 has its own range', async (t) => {
  const uint64 = validating({ type: 'integer', format: 'uint64' })
  for (const text of ['0', '9007199254740993', '18446744073709551615']) t.equal(uint64(text), BigInt(text))
  for (const text of ['-1', '18446744073709551616', '1.5', '1e300', '"1"'])
    t.equal(uint64(text), 'body must be a uint64 integer')
})

t.test('an integer without the format int64 is exact or rejected', async (t) => {
  const rule = 'must be an integer from -9007199254740991 to 9007199254740991'
  const beyond = ['9007199254740992', '-9007199254740993', '18446744073709551615', '9.007199254740993e15', '1e300']
  for (const format of [undefined, 'uint32']) {
    const integer = validating({ type: 'integer', ...(format && { format }) })
    for (const text of ['9007199254740991', '-9007199254740991', '9.007199254740991e15', '1.0', '1e3', '-0'])
      t.equal(integer(text), Number(text), text)
    for (const text of [...beyond, '1.00000000000000000001', '1e-400']) t.equal(integer(text), `body ${rule}`, text)
    t.equal(integer('1.5'), 'body must be integer')
  }
  const nullable = validating({ type: 'array', items: { type: ['integer', 'null'] } })
  t.same(nullable('[null,1]'), [null, 1])
  t.equal(nullable('[9007199254740993]'), `body/0 ${rule}`)
  t.equal(nullable('["a"]'), 'body/0 must be integer or null')
})

const rounding = 'must be a number that a double holds without rounding, such as an integer up to 9007199254740991'

t.test('an integer that a double would round gets 400 wherever the schema does not make it exact', async (t) => {
  const large = '12345678901234567890'
  const object = { type: 'object', properties: { id: int64, 'a/b~': {} } }
  const schemas: [Schema, string, string][] = [
    [{}, large, 'body'],
    [true, `{"unknown":[1,${large}]}`, 'body/unknown/1'],
    [{ type: 'number' }, large, 'body'],
    [{ type: ['integer', 'number'], format: 'double' }, '9007199254740993', 'body'],
    [{ type: 'object' }, `{"a":{"b":${large}}}`, 'body/a/b'],
    [{ type: 'array' }, `[${large}]`, 'body/0'],
    [object, `{"id":9007199254740993,"a/b~":${large}}`, 'body/a~1b~0'],
    [{ ...object, additionalProperties: {} }, `{"id":1,"a":${large}}`, 'body/a'],
    [{ ...object, patternProperties: { '^p': {} } }, `{"id":1,"pa":[${large}]}`, 'body/pa/0'],
    [
      { allOf: [object], properties: { list: { items: { properties: { n: {} } } } } },
      `{"list":[{"n":[${large}]}]}`,
      'body/list/0/n/0',
    ],
    [{ additionalProperties: true }, `{"a":-${large}}`, 'body/a'],
    [{ patternProperties: { '^a': {} } }, `{"a":${large}}`, 'body/a'],
    [{ anyOf: [{ type: 'string' }, {}] }, large, 'body'],
    [{ not: { type: 'string' } }, large, 'body'],
    [{ uniqueItems: true }, '[9007199254740992,9007199254740993]', 'body/1'],
    [{}, '[{"n":1},{"n":1e400}]', 'body/1/n'],
    [{}, '18446744073709551616', 'body'],
  ]
  for (const [schema, text, place] of schemas) t.equal(validating(schema)(text), `${place} ${rounding}`, text)
  for (const text of ['9007199254740992', '12345678901234567000', '1e300', '-1e23', '6.02214076e23'])
    t.equal(validating({})(text), Number(text), `a double is written with the digits of ${text}`)
  for (const text of ['0.1234567890123456789', '12345678901234567.5', '0.99999999999999999999', '1e-400'])
    t.equal(validating({ type: 'number' })(text), Number(text), 'a fraction is the nearest double')
  const undescribed = `{"id":1,"undescribed":{"a":[${large},1e400]},"other":${large}}`
  t.same(validating(object)(undescribed), { ...JSON.parse(undescribed), id: 1n }, 'what no schema describes is ignored')
  const ignored = { type: 'object', properties: { id: int64, old: { readOnly: true } } }
  t.same(validating(ignored)(`{"id":${2n ** 60n},"old":[${large}]}`), { id: 2n ** 60n })
})

t.test('a bigint of a handler is exact wherever its schema allows any number', async (t) => {
  const text = '{"a":[12345678901234567890]}'
  for (const schema of [{}, { type: 'object' }, { additionalProperties: { items: { type: 'number' } } }]) {
    const { operation, validator } = compile(schema)
    const serialize = validator.serializer(
      operation.schema.response[200]?.content?.['application/json']?.schema ?? false,
    )
    t.equal(serialize({ a: [12345678901234567890n] }), text)
  }
})

t.test('a decimal number is a multiple of its decimal step in requests and responses', async (t) => {
  const cases: [step: number, multiples: number[], others: number[]][] = [
    [0.01, [19.99, 0.07, 4.35, 8.03, 99999999.99, 0, -1.1, 1e20], [0.005, 19.999, 1e-30]],
    [0.1, [98.8, 0.3, 2.4], [0.35]],
    [0.000001, [0.000003, 1.1], [0.0000005]],
    [1.01, [5001.52], [5001.77]],
    [3, [9, 0, -3, 9e20], [10, 1e23, 1.5]],
    [1e-7, [3e-7, 1], [3e-8]],
    [2.5e10, [5e10], [1e10]],
  ]
  for (const [multipleOf, multiples, others] of cases) {
    const { operation, validator } = compile({ type: 'number', multipleOf })
    const { schema } = operation.schema.response[200]?.content?.['application/json'] ?? { schema: false }
    const validate = validator.request(schema, 'body')
    const serialize = validator.serializer(schema)
    for (const value of multiples) {
      t.same(validate(parseJson(String(value))), { value }, `${value} is a multiple of ${multipleOf}`)
      t.equal(serialize(value), String(value))
    }
    for (const value of others) {
      t.match(validate(parseJson(String(value))), { error: { message: `body must be multiple of ${multipleOf}` } })
      t.throws(() => serialize(value), /must be multiple of/, `${value} is no multiple of ${multipleOf}`)
    }
  }
  const { operation, validator } = compile({ type: 'number', multipleOf: 2.5 })
  const serialize = validator.serializer(operation.schema.response[200]?.content?.['application/json']?.schema ?? false)
  t.equal(serialize(2n ** 53n + 3n), String(2n ** 53n + 3n))
  t.throws(() => serialize(2n ** 53n + 1n), /must be multiple of 2.5/)
})

t.test('a response with an integer that may be rounded is rejected', async (t) => {
  const { operation, validator } = compile({ type: 'object', properties: { n: { type: 'integer' }, x: true } })
  const { schema } = operation.schema.response[200]?.content?.['application/json'] ?? { schema: false }
  const assertValid = validator.response(schema)
  for (const n of [2 ** 53 - 1, 1 - 2 ** 53, 0]) assertValid({ n, x: 2 ** 60 })
  for (const n of [2 ** 53, -(2 ** 60), 2n ** 53n + 1n])
    t.throws(() => assertValid({ n }), /must be an integer from -900/)
})

t.test('uniqueItems compares items by value', async (t) => {
  const unique = validating({ uniqueItems: true })
  const distinct = [
    '[]',
    '1',
    '[1]',
    '[9007199254740992,9007199254740994]',
    '[{"id":[9007199254740992]},{"id":[9007199254740994]}]',
    '["1",1,true,"true",null,"null",[1],["1"],{"a":1},"{\\"a\\":1}",[[1]],{},[]]',
    '[{"a":1},{"a":1,"b":null},{"b":1},{"ab":1},{"a":{"b":1}}]',
    '[0,false,"",null]',
    '[[1,2],[2,1],[12],[[1],2]]',
  ]
  for (const text of distinct) t.same(unique(text), JSON.parse(text), text)
  const equal: [string, number, number][] = [
    ['[1,1.0]', 0, 1],
    ['[1,2,1e0]', 0, 2],
    ['[0,-0]', 0, 1],
    ['[9007199254740993,9.007199254740993e15]', 0, 1],
    ['[{"a":1,"b":[{"c":2}]},{"b":[{"c":2.0}],"a":1}]', 0, 1],
    ['["x",{"__proto__":1},{"__proto__":1}]', 1, 2],
    ['["a","b","c","b","\\u0061"]', 1, 3],
  ]
  for (const [text, j, i] of equal)
    t.equal(unique(text), `body must NOT have duplicate items (items ## ${j} and ${i} are identical)`, text)
  t.same(validating({ uniqueItems: false })('[1,1]'), [1, 1])
  t.match(validating({ items: { uniqueItems: true } })('[[[1],[1]],[1]]'), /^body\/0 must NOT/)
  t.equal(validating({ type: 'array', uniqueItems: true })('{}'), 'body must be array')
})

t.test('uniqueItems over int64 is exact', async (t) => {
  const unique = validating({ type: 'array', uniqueItems: true, items: int64 })
  t.same(unique('[9007199254740992,9007199254740993]'), [9007199254740992n, 9007199254740993n])
  t.match(unique('[9007199254740993,9007199254740993]'), /items ## 0 and 1 are identical/)
  const { operation, validator } = compile({ type: 'array', uniqueItems: true, items: { properties: { id: int64 } } })
  const { schema } = operation.schema.response[200]?.content?.['application/json'] ?? { schema: false }
  const assertValid = validator.response(schema)
  assertValid([{ id: 9007199254740992n }, { id: 9007199254740993n }])
  t.throws(() => assertValid([{ id: 1n }, { id: 1 }]), /items ## 0 and 1 are identical/)
  t.throws(
    () => assertValid([{ id: 1n }, { id: 1n, tag: undefined }]),
    /items ## 0 and 1/,
    'neither has a tag on the wire',
  )
})

t.test('items that match contains count as evaluated', async (t) => {
  const validate = validating({ contains: { type: 'string' }, unevaluatedItems: { type: 'number' } })
  t.same(validate('["a",1]'), ['a', 1])
  t.match(validate('[1]'), /must contain at least 1 valid item/)
  t.match(validating({ prefixItems: [{ const: 1 }], contains: {} })('[]'), /must contain at least 1 valid item/)
  t.match(validate('["a",true]'), /must match a schema in anyOf/)
  const even = { contains: { multipleOf: 2 }, minContains: 0 }
  const closed = validating(
    { allOf: [even, { $ref: '#/components/schemas/Three' }], unevaluatedItems: false },
    { Three: { contains: { multipleOf: 3 } } },
  )
  t.same(closed('[2,3,4,9]'), [2, 3, 4, 9])
  t.match(closed('[2,3,5]'), /body\/2 must/)
  for (const keyword of ['anyOf', 'oneOf']) {
    const schema = { [keyword]: [{ contains: { const: 1 } }], unevaluatedItems: false }
    t.throws(
      () => validating(schema),
      /cannot tell which items match a contains in anyOf, .* move the contains beside it/,
    )
  }
})

t.test('members that a valid branch evaluates, and no others, are evaluated', async (t) => {
  const has = (name: string, value: unknown = 1) => ({ properties: { [name]: { const: value } }, required: [name] })
  const closed = { unevaluatedProperties: false }
  const items = { prefixItems: [{ const: 1 }] }
  const branch = (then: Schema) => JSON.parse(JSON.stringify({ then })) as { then: Schema }
  const cases: [Schema, accepted: string[], rejected: string[]][] = [
    [{ if: has('a'), ...closed }, ['{"a":1}', '{}'], ['{"a":2}', '{"a":1,"b":1}']],
    [{ if: has('a'), ...branch({}), ...closed }, ['{"a":1}'], ['{"a":2}']],
    [{ if: has('a'), ...branch({}) }, ['{"a":1}', '{"a":2}', '{"b":1}'], []],
    [{ if: has('a') }, ['{"a":1}', '{"a":2}', '{"b":1}'], []],
    [
      { if: has('a'), ...branch(true), else: has('b'), ...closed },
      ['{"a":1}', '{"b":1}'],
      ['{"a":2,"b":1}', '{"a":2}'],
    ],
    [{ if: has('a'), ...branch(has('b')), ...closed }, ['{"a":1,"b":1}', '{}'], ['{"a":1}', '{"a":2}', '{"b":1}']],
    [{ if: { properties: { a: { const: 1 } } }, else: has('b'), ...closed }, ['{"a":1}'], ['{"a":2,"b":1}']],
    [{ allOf: [{ if: has('a') }, has('c')], ...closed }, ['{"a":1,"c":1}'], ['{"a":2,"c":1}']],
    [
      { anyOf: [{ if: has('a'), ...branch({}) }, has('c')], ...closed },
      ['{"a":1}', '{"a":1,"c":1}'],
      ['{"a":2,"c":1}'],
    ],
    [{ dependentSchemas: { a: { if: has('b') } }, properties: { a: true }, ...closed }, ['{"a":1,"b":1}'], ['{"b":1}']],
    [{ allOf: [{ properties: { a: true } }], anyOf: [has('b'), true], ...closed }, ['{"a":1}'], ['{"a":1,"c":1}']],
    [{ anyOf: [has('a'), true], patternProperties: {}, ...closed }, ['{"a":1}', '{}'], ['{"a":2}', '{"b":1}']],
    [{ items: { anyOf: [has('a'), has('b')], ...closed } }, ['[{"a":1},{"b":1}]'], ['[{"a":1},{"b":1,"a":2}]']],
    [{ if: items, unevaluatedItems: false }, ['[1]', '[]'], ['[2]', '[1,1]']],
    [
      { anyOf: [{ items: { const: 1 } }, true], unevaluatedItems: { const: 2 } },
      ['[1,1]', '[2,2]'],
      ['[1,3]', '[1,2]'],
    ],
    [{ anyOf: [items, { items: { const: 1 } }], unevaluatedItems: false }, ['[1]', '[1,1]'], ['[1,2]']],
    [{ unevaluatedItems: true }, ['[1]'], []],
    [
      { anyOf: [{ additionalProperties: { const: 1 } }, true], patternProperties: { '^a': true }, ...closed },
      ['{"a":1,"b":1}', '{"a":2}'],
      ['{"a":2,"b":1}'],
    ],
  ]
  for (const [schema, accepted, rejected] of cases) {
    const validate = validating(schema)
    for (const text of accepted) t.same(validate(text), JSON.parse(text), `${JSON.stringify(schema)} accepts ${text}`)
    for (const text of rejected) t.match(validate(text), /^body/, `${JSON.stringify(schema)} rejects ${text}`)
  }
})

t.test('a body is not coerced, keeps undescribed properties and gets no defaults', async (t) => {
  const properties = { n: { type: 'number' }, s: { type: 'string' }, b: { type: 'boolean', default: true } }
  const validate = validating({ type: 'object', properties, required: ['s'] })
  t.same(validate('{"s":"","n":1.5,"x":[1]}'), { s: '', n: 1.5, x: [1] })
  for (const text of ['{"s":1}', '{"s":null}', '{"s":true}', '{"s":["a"]}', '{"s":{}}'])
    t.equal(validate(text), 'body/s must be string')
  t.equal(validate('{"s":"","n":"1"}'), 'body/n must be number')
  t.equal(validate('{"s":"","n":1e400}'), 'body/n must be number')
  t.equal(validate('{"s":"","b":1}'), 'body/b must be boolean')
  t.equal(validate('{}'), "body must have required property 's'")
  t.equal(validate('{"__proto__":{"s":""}}'), "body must have required property 's'")
  const map = validating({ additionalProperties: int64 })
  t.same(Object.entries(map('{"__proto__":1}') as object), [['__proto__', 1n]])
  const inherited = validating({
    type: 'object',
    required: ['constructor'],
    properties: { toString: { type: 'string' } },
  })
  t.equal(inherited('{}'), "body must have required property 'constructor'")
})

t.test('a message lists at most ten problems and shortens long names', async (t) => {
  const validate = validating({
    type: 'object',
    additionalProperties: { type: 'string' },
    propertyNames: { minLength: 1 },
  })
  t.equal(validate('{"a":1,"b":2}'), 'body/a must be string; body/b must be string')
  const many = validate(`{${Array.from({ length: 1_000 }, (_, n) => `"k${n}":1`)}}`) as string
  t.match(many, /^(body\/k\d must be string; ){10}and 990 more$/)
  const long = validate(`{"${'k'.repeat(1_000)}":1}`) as string
  t.match(long, /^body\/k{95}… must be string$/)
})

t.test('unknown keywords do not affect validity', async (t) => {
  const schema = { type: 'string', example: 'a', 'x-order': 1, externalDocs: { url: 'https://example.com' }, xml: {} }
  t.equal(validating(schema)('"b"'), 'b')
  t.equal(validating({ type: 'string', format: 'surprise', surprise: true })('"b"'), 'b')
})

t.test('parameters become the types of their schemas', async (t) => {
  const parameters: Parameter[] = [
    { name: 'id', in: 'path', required: true, schema: int64 },
    { name: 'ids', in: 'query', schema: { type: 'array', items: int64 } },
    { name: 'size', in: 'query', schema: { type: 'integer', format: 'int32', maximum: 100 } },
    { name: 'pages', in: 'query', schema: { type: 'array', items: { type: 'integer' } } },
    { name: 'limit', in: 'query', schema: { type: 'integer', format: 'uint32' } },
    { name: 'deep', in: 'query', schema: { type: 'boolean' } },
    { name: 'X-Trace', in: 'header', required: true, schema: int64 },
  ]
  const { operation, validator } = compile(true, parameters)
  const { params, querystring, headers } = operation.schema
  const validators = {
    path: pathValidator(operation, params as Schema, validator),
    query: queryValidator(operation, querystring as Schema, validator),
    header: headerValidator(operation, headers as Schema, validator),
  }
  const run = (t: Test, kind: keyof typeof validators, given: Record<string, string | string[]>, expected: unknown) => {
    const result = validators[kind](given)
    if (typeof expected === 'string') t.match(result, { error: { kind: 'invalid', message: expected } })
    else t.same(result, { value: expected })
  }
  run(t, 'path', { id: '-9223372036854775808' }, { id: -(2n ** 63n) })
  run(t, 'path', { id: '9223372036854775808' }, 'path/id must be an int64 integer')
  for (const id of ['', ' 1', '0x10', '1.5', 'null']) run(t, 'path', { id }, 'path/id must be an int64 integer')
  run(t, 'query', { ids: ['9007199254740993'], deep: ['true'] }, { ids: [9007199254740993n], deep: true })
  run(t, 'query', { ids: ['1', '9007199254740993'], size: ['7'] }, { ids: [1n, 9007199254740993n], size: 7 })
  run(t, 'query', { size: ['101'], deep: ['maybe'] }, 'query/size must be <= 100; query/deep must be boolean')
  const exact = 'must be an integer from -9007199254740991 to 9007199254740991'
  run(t, 'query', { pages: ['1', '9007199254740993'] }, `query/pages/1 ${exact}`)
  run(t, 'query', { limit: ['18446744073709551615'] }, `query/limit ${exact}`)
  run(t, 'query', { pages: ['1', '9007199254740991'], limit: ['1.0'] }, { pages: [1, 9007199254740991], limit: 1 })
  run(t, 'header', { 'x-trace': '9007199254740993' }, { 'X-Trace': 9007199254740993n })
  run(t, 'header', {}, "header must have required property 'X-Trace'")
})

t.test('a response is checked against its schema', async (t) => {
  const { operation, validator } = compile({ type: 'object', required: ['id'], properties: { id: int64 } })
  const { schema } = operation.schema.response[200]?.content?.['application/json'] ?? { schema: false }
  const assertValid = validator.response(schema)
  for (const id of [2n ** 63n - 1n, 5, 0n]) assertValid({ id })
  for (const id of [2n ** 63n, 1.5, '1', undefined, null])
    t.throws(() => assertValid({ id }), /^the response does not match its schema: response/)
})

t.test('conversions of a failed alternative are discarded', async (t) => {
  const exact = { type: 'object', required: ['kind'], properties: { kind: { const: 'exact' }, id: int64 } }
  const rough = { type: 'object', properties: { kind: { const: 'rough' }, id: { type: 'number' } } }
  for (const keyword of ['oneOf', 'anyOf']) {
    const validate = validating({ [keyword]: [{ $ref: '#/components/schemas/Exact' }, rough] }, { Exact: exact })
    t.same(validate('{"id":9007199254740993,"kind":"exact"}'), { id: 9007199254740993n, kind: 'exact' })
    t.same(validate('{"id":5,"kind":"rough"}'), { id: 5, kind: 'rough' })
    t.match(validate('{"id":5,"kind":"other"}'), /; body must match (a|exactly one) schema in (any|one)Of$/)
  }
  const nested = validating({ oneOf: [{ allOf: [{ anyOf: [exact, rough] }, { required: ['x'] }] }, rough] })
  t.same(nested('{"id":5,"kind":"rough"}'), { id: 5, kind: 'rough' })
  const conditional = validating({
    if: { properties: { id: { ...int64, minimum: 10 } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['x'] },
    not: { required: ['y'], properties: { id: int64 } },
  })
  t.same(conditional('{"id":5}'), { id: 5 })
  t.same(conditional('{"id":10,"x":1}'), { id: 10n, x: 1 })
  t.same(conditional('{"id":10}'), "body must have required property 'x'")
})

t.test('int64 becomes bigint in a recursive schema whose alternatives share a value', async (t) => {
  const next = { $ref: '#/components/schemas/Node' }
  const alternative = { properties: { next, ids: { type: 'array', items: next } } }
  const either = { anyOf: [{ ...alternative, required: ['never'] }, alternative] }
  const both = { allOf: [alternative, alternative] }
  for (const union of [either, both]) {
    const Node = { type: ['object', 'null'], properties: { id: int64 }, ...union, required: ['id'] }
    const validate = validating(next, { Node })
    t.same(validate('{"id":1,"next":{"id":9007199254740993,"next":null,"ids":[{"id":3,"next":{"id":4}}]}}'), {
      id: 1n,
      next: { id: 9007199254740993n, next: null, ids: [{ id: 3n, next: { id: 4n } }] },
    })
    t.match(validate('{"id":1,"next":{"id":1.5}}'), /body\/next\/id must be an int64 integer/)
    t.match(validate('{"id":1,"next":5}'), /body\/next must be object or null/)
  }
})

t.test('format byte accepts one line of base64', async (t) => {
  const validate = validating({ type: 'string', format: 'byte' })
  for (const text of ['', 'YWI=', 'YWJj', 'YQ==']) t.equal(validate(JSON.stringify(text)), text)
  for (const text of [' \n', '!\nYWI=', 'YWI', 'YWI=\n', 'YW-_'])
    t.match(validate(JSON.stringify(text)), /format "byte"/)
})

t.test('formats date-time and time accept what RFC 3339 allows', async (t) => {
  const texts: Record<string, [valid: string[], invalid: string[]]> = {
    'date-time': [
      ['2026-02-28T23:59:59Z', '2026-02-28t00:00:00.125z', '2026-02-28T00:00:00+01:30'],
      [
        '2026-02-28 00:00:00Z',
        '2026-02-28T00:00:00',
        '2026-02-28T00:00:00+01',
        '2026-02-29T00:00:00Z',
        '2026-02-28T24:00:00Z',
      ],
    ],
    time: [
      ['23:59:59Z', '00:00:00.5-08:00'],
      ['00:00:00', '00:00:00+0100', '24:00:00Z'],
    ],
  }
  for (const [format, [valid, invalid]] of Object.entries(texts)) {
    const validate = validating({ type: 'string', format })
    for (const text of valid) t.equal(validate(JSON.stringify(text)), text)
    for (const text of invalid) t.match(validate(JSON.stringify(text)), `format "${format}"`, text)
  }
})

t.test('a readOnly property of a request is ignored whatever its value', async (t) => {
  const id = { ...int64, readOnly: true }
  const plant = { type: 'object', required: ['id', 'name'], additionalProperties: false, properties: { id, name: {} } }
  const validate = validating({ type: 'array', items: { $ref: '#/components/schemas/Plant' } }, { Plant: plant })
  t.same(validate('[{"name":1},{"id":2,"name":1},{"name":1,"id":"a"}]'), [{ name: 1 }, { name: 1 }, { name: 1 }])
  t.equal(validate('[{"id":2}]'), "body/0 must have required property 'name'")
  t.equal(validate('[{"name":1,"key":2}]'), 'body/0 must NOT have additional properties')
})

t.test('a property is ignored if the matching alternative marks it readOnly', async (t) => {
  const kind = (name: string, id: object) => ({ type: 'object', properties: { kind: { const: name }, id } })
  const validate = validating({ oneOf: [kind('a', { ...int64, readOnly: true }), kind('b', int64)] })
  t.same(validate('{"kind":"a","id":1}'), { kind: 'a' })
  t.same(validate('{"kind":"b","id":1}'), { kind: 'b', id: 1n })
})

t.test('a readOnly property named __proto__ is ignored', async (t) => {
  const properties = Object.fromEntries([['__proto__', { readOnly: true }]])
  t.same(Object.keys(validating({ type: 'object', properties })('{"__proto__":1,"a":2}') as object), ['a'])
})

t.test('an email may have a domain of one label, and a time any number of digits of a second', async (t) => {
  const cases: [format: string, accepted: string[], rejected: string[]][] = [
    ['email', ['a@localhost', 'a.b@x.example'], ['a@', '@a', 'a..b@x', 'a@-x', 'a@x.']],
    ['date-time', ['2026-01-01T00:00:59.999999999999999Z', '2016-12-31T23:59:60.5Z'], ['2026-01-01T00:00:60.5Z']],
    ['time', ['23:59:59.9999999999999999Z'], ['12:00:61Z', '12:00:00.Z']],
  ]
  for (const [format, accepted, rejected] of cases) {
    const validate = validating({ type: 'string', format })
    for (const text of accepted) t.equal(validate(JSON.stringify(text)), text)
    for (const text of rejected) t.match(validate(JSON.stringify(text)), /must match format/, text)
  }
})

t.test('every name may be required, alone, beside others, in alternatives and of another member', async (t) => {
  const replyOf = (schema: Schema) => {
    const { operation, validator } = compile(schema)
    const { content } = operation.schema.response[200] ?? {}
    const serialize = validator.serializer(content?.['application/json']?.schema ?? false)
    return (text: string) => {
      try {
        return serialize(JSON.parse(text))
      } catch {
        return undefined
      }
    }
  }
  const many = Array.from({ length: 250 }, (_, index) => `n${index}`)
  const text = (...names: string[]) => JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])))
  for (const name of ['', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a b']) {
    const properties = Object.fromEntries([[name, { type: 'number' }]])
    const cases: [schema: Schema, valid: string[], invalid: string[]][] = [
      [{ required: [name] }, [text(name)], ['{}', text('b')]],
      [{ type: 'object', properties, required: [name] }, [text(name)], ['{}', text('b')]],
      [{ properties, additionalProperties: false }, ['{}', text(name)], [text('b')]],
      [{ type: 'object', required: [name, 'b'] }, [text(name, 'b')], [text('b'), text(name), '{}']],
      [{ type: 'object', required: ['b', name] }, [text(name, 'b')], [text('b'), text(name), '{}']],
      [{ required: [...many, name] }, [text(...many, name)], [text(...many)]],
      [{ anyOf: [{ required: [name] }, { required: ['b'] }] }, [text(name), text('b')], ['{}', text('c')]],
      [{ not: { required: [name] } }, ['{}'], [text(name)]],
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      [{ if: { required: [name] }, then: { required: ['b'] } }, ['{}', text('b', name)], [text(name)]],
      [{ dependentRequired: { b: [name] } }, ['{}', text(name), text('b', name)], [text('b')]],
      [{ dependentRequired: { b: ['c', name] } }, [text('b', 'c', name)], [text('b', 'c'), text('b', name)]],
    ]
    if (name !== '__proto__') {
      const dependent: [Schema, string[], string[]][] = [
        [{ dependentRequired: { [name]: ['b'] } }, ['{}', text('b'), text(name, 'b')], [text(name)]],
        [{ dependentRequired: { [name]: [name] } }, ['{}', text(name)], []],
        [{ dependentSchemas: { [name]: { required: ['b'] } } }, ['{}', text(name, 'b')], [text(name)]],
      ]
      cases.push(...dependent)
    }
    for (const [schema, valid, invalid] of cases) {
      const [validate, reply] = [validating(schema), replyOf(schema)]
      const title = JSON.stringify(schema).slice(-80)
      for (const one of valid) {
        t.same(validate(one), JSON.parse(one), `${title} ${one}`)
        t.equal(reply(one), one, `${title} ${one}`)
      }
      for (const one of invalid) {
        t.type(validate(one), 'string', `${title} ${one}`)
        t.equal(reply(one), undefined, `${title} ${one}`)
      }
    }
  }
  t.equal(
    validating({ required: ['', 'b'] })('{}'),
    "body must have required property ''; body must have required property 'b'",
  )
  t.match(
    validating({ dependentRequired: { b: ['', 'c'] } })('{"b":1,"c":1}'),
    'body must have properties , c when property b is present',
  )
})

t.test('a shared schema may have the name of a boolean schema', async (t) => {
  const validator = engine.createValidator({ true: { type: 'string' } })
  const isValid = (schema: Schema, text: string) => 'value' in validator.request(schema, 'body')(parseJson(text))
  t.equal(isValid(true, '1'), true)
  t.equal(isValid({ $ref: 'true#' }, '1'), false)
  t.equal(isValid({ $ref: 'true#' }, '"a"'), true)
})
