import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { compileContract, compileDocument } from '../../src/compile/compile.ts'
import {
  exactIntegers,
  exactJson,
  roundedIntegers,
  withExactKeywords,
  withExactUnions,
} from '../../src/compile/document/exact-integers.ts'
import { writeStale } from '../../src/compile/emit/generated-files.ts'
import { handlerStubs } from '../../src/compile/emit/handler-stubs.ts'
import { exampleCalls } from '../../src/docs/example-calls.ts'
import { createMock } from '../../src/mock/mock-server.ts'
import { loadContract } from '../../src/serve/contract.ts'

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
  const { components } = withExactKeywords(
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

t.test('values and defaults beyond the doubles have exact keywords beside them', async (t) => {
  const large = 2 ** 60
  const integers = new Map([[large, 2n ** 60n - 1n]])
  const wide = { type: ['integer', 'null'], format: 'int64' }
  const schemas = {
    One: { ...wide, const: large },
    Some: { ...wide, enum: [5, large, null] },
    Steps: { ...wide, multipleOf: large },
    Default: { items: wide, default: [{ n: large }, 5] },
    Plain: { type: 'integer', enum: [large] },
    Unknown: { ...wide, enum: [large, 2 ** 61], default: 2 ** 61 },
    Double: { type: 'number', enum: [2 ** 61], default: 2 ** 61, multipleOf: 2 ** 61 },
  }
  const { components } = withExactKeywords(documentOf(schemas), integers)
  const exact = components.schemas as typeof schemas & { Default: { 'x-exact-default'?: string } }
  const { 'x-exact-default': text = '' } = exact.Default
  t.strictSame(exact, {
    ...schemas,
    One: { ...schemas.One, 'x-exact-const': '1152921504606846975' },
    Some: { ...schemas.Some, 'x-exact-enum': '5,1152921504606846975' },
    Steps: { ...wide, 'x-exact-multipleOf': '1152921504606846975' },
    Default: { ...schemas.Default, 'x-exact-default': text },
  })
  t.equal(text.replaceAll(/\s/g, ''), '[{"n":1152921504606846975},5]')
  t.same(roundedIntegers(documentOf(components.schemas)), [
    { pointer: '#/components/schemas/Plain/enum/0', isShown: false, isWide: false },
    { pointer: '#/components/schemas/Unknown/enum/0', isShown: false, isWide: true },
    { pointer: '#/components/schemas/Unknown/enum/1', isShown: false, isWide: true },
    { pointer: '#/components/schemas/Unknown/default', isShown: false, isWide: true },
  ])
})

t.test('a parsed document has no digits, so an integer that is rounded in it is rejected', async (t) => {
  const schema = { type: 'integer', format: 'int64', enum: [2 ** 60, 5] }
  const responses = { 200: { description: '', content: { 'application/json': { schema } } } }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/': { get: { responses } } } }
  await t.rejects(
    compileDocument(document, 'openapi.yaml', {}, () => ''),
    {
      message: /schema\/enum\/0: an integer beyond 2\^53 - 1 whose digits are uncertain/,
    },
  )
})

t.test('examples, requests, tools and the mock have the digits of the document', async (t) => {
  const directory = t.testdir({
    'openapi.yaml': `
      openapi: 3.1.0
      info: { title: Large, version: '1' }
      servers: [{ url: http://127.0.0.1 }]
      security: []
      paths:
        /ids/{id}:
          post:
            operationId: postId
            x-mcp: true
            parameters:
              - { name: id, in: path, required: true, schema: { type: integer, format: int64, enum: [9007199254740993] } }
            requestBody:
              required: true
              content: { application/json: { schema: { $ref: '#/components/schemas/Id' } } }
            responses:
              '200':
                description: The same.
                headers: { X-Id: { required: true, schema: { type: integer, format: int64, const: 9007199254740993 } } }
                content: { application/json: { schema: { $ref: '#/components/schemas/Id' } } }
        /events:
          get:
            operationId: getIds
            responses:
              '200':
                description: The ids.
                content: { application/jsonl: { schema: { type: array, items: { $ref: '#/components/schemas/Id' } } } }
      components:
        schemas:
          Id:
            type: object
            required: [id]
            properties: { id: { type: [integer, 'null'], format: int64, enum: [9007199254740993, null] } }
    `,
  })
  const compiled = await compileContract(join(directory, 'openapi.yaml'))
  const { files } = compiled
  t.match(files['requests.http'], '/ids/9007199254740993')
  t.match(JSON.parse(String(files['mcp.json'])), {
    tools: [
      {
        inputSchema: {
          properties: { path: { properties: { id: { enum: ['9007199254740993'] } } } },
          $defs: { Id: { properties: { id: { enum: ['9007199254740993', null] } } } },
        },
      },
    ],
  })
  t.match(handlerStubs(compiled, undefined).join('\n'), /'X-Id': 9007199254740993n.*id: 9007199254740993n/s)
  await writeStale(files, join(directory, 'generated'))
  const contract = await loadContract(
    pathToFileURL(`${directory}/generated/`),
    JSON.parse(String(files['digests.json'])),
  )
  t.match(exampleCalls(contract, 'token'), [
    { request: { url: '/ids/9007199254740993', payload: '{"id":9007199254740993}' } },
  ])
  const { app } = await createMock(
    join(directory, 'generated'),
    ({ message }: { message: string }) => ({ contentType: 'text/plain', body: message }),
    {},
  )
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const options = { method: 'POST', body: '{"id":9007199254740993}', headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${url}/ids/9007199254740993`, options)
  t.equal(await response.text(), '{"id":9007199254740993}')
  t.equal(response.headers.get('x-id'), '9007199254740993')
  t.equal(await (await fetch(`${url}/events`)).text(), '{"id":9007199254740993}\n')
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
