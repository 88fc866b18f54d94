import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseJson, stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import t from 'tap'
import { run } from '../../src/cli/init.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { exampleCalls } from '../../src/examples/example-calls.ts'
import { generatedCount, generatedValue } from '../../src/examples/schema-values.ts'
import { runtimeFor } from '../../src/init/runtime.ts'
import { generatedContract, mockServer } from '../../src/mock/mock-server.ts'

/** Returns a value as the service reads it. */
const asJson = (value: unknown) => parseJson(stringifyJson(value) as string)

const text = { type: 'string' }
const integer = { type: 'integer' }
const list = (more: object) => ({ type: 'array', ...more })
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

/** Schemas of which a value is made that satisfies them. */
const makeable: Record<string, object> = {
  dependentRequired: object({ a: text, c: integer }, { dependentRequired: { a: ['b', 'c'], b: ['d'] } }),
  dependentSchemas: object({ a: text }, { dependentSchemas: { a: { required: ['b'], properties: { b: integer } } } }),
  uniqueItems: list({ uniqueItems: true, minItems: 3, items: integer }),
  uniqueTexts: list({ uniqueItems: true, minItems: 40, items: { type: 'string', minLength: 3, maxLength: 3 } }),
  uniqueDates: list({ uniqueItems: true, minItems: 40, items: { type: 'string', format: 'date-time' } }),
  uniqueChoices: list({ uniqueItems: true, minItems: 3, items: { enum: ['a', 'b', 'c'] } }),
  uniqueFlags: list({ uniqueItems: true, minItems: 2, items: { type: 'boolean' } }),
  uniqueShares: list({ uniqueItems: true, minItems: 3, items: { type: 'number', minimum: 0, maximum: 0.5 } }),
  uniqueObjects: list({ uniqueItems: true, minItems: 5, items: object({ id: integer, on: { type: 'boolean' } }) }),
  uniqueExample: list({ uniqueItems: true, minItems: 2, items: { type: 'string', example: 'a' } }),
  contains: list({ items: { type: ['integer', 'string'] }, contains: { type: 'string', minLength: 2 } }),
  minContains: list({ contains: { const: 7 }, minContains: 3 }),
  containsAfter: list({ prefixItems: [text], items: integer, contains: { ...integer, minimum: 5 }, minItems: 4 }),
  decimalSteps: object(
    { price: { type: 'number', multipleOf: 0.01, exclusiveMinimum: 0.06 } },
    { required: ['price'] },
  ),
  decimalRange: { type: 'number', multipleOf: 0.1, minimum: 0.3, maximum: 0.3 },
  severalSteps: { allOf: [{ type: 'integer', multipleOf: 4, minimum: 1 }, { multipleOf: 6 }] },
  bytes: { type: 'string', format: 'byte', minLength: 5 },
  largeSteps: { type: 'integer', multipleOf: 7, minimum: 1e12 },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  condition: object({ a: { const: 1 } }, { if: { properties: { a: { const: 1 } } }, then: { required: ['b'] } }),
  excluded: object({ a: text, b: text }, { not: { required: ['b'] } }),
  otherValue: { type: 'integer', not: { const: 0 } },
  few: object({ a: text, b: text }, { maxProperties: 1 }),
  map: { type: 'object', additionalProperties: integer, minProperties: 1 },
}

/** Schemas of which no valid value is made, although some have one. */
const impossible: Record<string, object> = {
  never: object({ a: integer }, { required: ['a'], maxProperties: 0 }),
  hidden: { type: 'string', not: { pattern: '^(?!b2$)' } },
}

const pathsOf = (schemas: Record<string, object>): object =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const content = { 'application/json': { schema } }
      const post = {
        operationId: name,
        requestBody: { required: true, content },
        responses: { 200: { description: 'The same.', content } },
      }
      return [`/${name}`, { post }]
    }),
  )

const documentOf = (schemas: Record<string, object>, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Examples', version: '1.0.0' },
  paths: { ...pathsOf(schemas), ...more },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
})

t.test('a value that is made from a schema satisfies it', async (t) => {
  const document = documentOf({}) as unknown as Document
  for (const [name, schema] of Object.entries(makeable)) {
    const validate = createValidator({}).converter(schema as never)
    const values = Array.from({ length: generatedCount }, (_, index) =>
      generatedValue(document, schema as never, index),
    )
    t.ok(
      values.some((value) => value !== undefined && validate(asJson(value))),
      `${name} ${JSON.stringify(values)}`,
    )
  }
  for (const name of [
    'dependentRequired',
    'dependentSchemas',
    'uniqueItems',
    'minContains',
    'decimalSteps',
    'condition',
  ]) {
    const schema = makeable[name] as never
    t.ok(createValidator({}).converter(schema)(asJson(generatedValue(document, schema))), `the first ${name}`)
  }
  const endless = list({ uniqueItems: true, minItems: 1e9, items: { enum: ['a', 'b'] } })
  t.same(generatedValue(document, endless), ['a', 'b'])
  t.equal((generatedValue(document, list({ contains: integer, minContains: 1e9 })) as unknown[]).length, 100)
})

t.test('values of schemas with many parts or values are made in bounded work', async (t) => {
  const names = Array.from({ length: 100_000 }, (_, index) => `v${index}`)
  const made = (schema: Parameters<typeof generatedValue>[1]) => generatedValue({} as Document, schema)
  t.equal(made({ enum: names }), 'v0')
  t.equal(made({ allOf: [{ enum: names }, { enum: names.toReversed() }] }), 'v0')
  t.same(made({ type: 'array', minItems: 100, items: { enum: names } }), Array(100).fill('v0'))
  t.equal(made({ type: 'string', minLength: 1e9 }), '')
  let searched = 0
  const parts = Array.from({ length: 20_000 }, (_, index) => ({
    get properties() {
      searched++
      return { [`p${index}`]: { type: 'string' } }
    },
  }))
  t.type(made({ allOf: parts }), 'object')
  t.ok(searched < 2_000_000, `${searched}`)
})

t.test('the test of a new project passes, and the mock responds, whatever the schemas demand', async (t) => {
  const parameter = (name: string, schema: object, more: object = {}) => ({
    name,
    in: 'query',
    required: true,
    schema,
    ...more,
  })
  const done = { 204: { description: 'Done.' } }
  const form = {
    'application/x-www-form-urlencoded': { schema: object({ n: integer }, { required: ['n'] }), example: { n: 'a' } },
  }
  const link = { required: true, schema: { type: 'string', format: 'uri' }, example: '/a' }
  const parts = { 'multipart/form-data': { schema: object({ n: integer }), example: { n: 'a' } } }
  const document = documentOf(
    { ...makeable, ...impossible },
    {
      '/parameters': {
        get: {
          operationId: 'parameters',
          parameters: [
            parameter('wrong', integer, { example: 'no integer' }),
            parameter('optional', integer, { required: false, example: 'no integer' }),
            parameter('codes', list({ uniqueItems: true, minItems: 3, items: text })),
          ],
          responses: done,
        },
        put: { operationId: 'impossible', parameters: [parameter('n', { not: {} })], responses: done },
      },
      '/form': { post: { operationId: 'form', requestBody: { required: true, content: form }, responses: done } },
      '/parts': { post: { operationId: 'parts', requestBody: { required: true, content: parts }, responses: done } },
      '/text': {
        post: {
          operationId: 'text',
          requestBody: { required: true, content: { 'text/plain': { schema: { title: 'Body' } } } },
          responses: done,
        },
      },
      '/bytes/{any}': {
        post: {
          operationId: 'base64',
          parameters: [
            parameter('any', {}, { in: 'path' }),
            parameter('x-key', text, { in: 'header', example: 'another' }),
          ],
          security: [{ key: [] }],
          requestBody: { required: true, content: { 'text/plain': { schema: { type: 'string', format: 'byte' } } } },
          responses: { 204: { description: 'Done.', headers: { Location: link } } },
        },
      },
    },
  )
  const directory = t.testdir({ 'examples.json': JSON.stringify(document) })
  const project = join(directory, 'project')
  const printed = t.capture(console, 'log')
  await run([join(directory, 'examples.json'), project, '--without', 'docs'])
  printed()
  const rejected = [...Object.keys(impossible), 'impossible']
  const requests = readFileSync(join(project, 'generated/requests.http'), 'utf8')
  for (const each of requests.split(/^### /m).slice(1)) {
    const [, name = ''] = /# @name (\w+)/.exec(each) ?? []
    t.equal(
      /^# Correct the (body|query): the document has no valid example of it\.$/m.test(each),
      rejected.includes(name),
      name,
    )
  }

  const generated = join(project, 'generated')
  const contract = await generatedContract(generated)
  const calls = exampleCalls(contract, 'token')
  const all = contract.routes.operations.map(({ operationId }) => operationId)
  t.same(
    calls.map(({ operationId }) => operationId),
    all.filter((name) => !rejected.includes(name)),
  )
  const { app } = mockServer(
    await generatedContract(generated),
    ({ message }: { message: string }) => ({ contentType: 'text/plain', body: message }),
    {},
  )
  t.teardown(() => app.close())
  for (const { operationId, request } of calls) {
    const { statusCode, body } = await app.inject(request)
    t.match(statusCode, /^20[04]$/, `${operationId} ${body}`)
  }
  const asked = {
    method: 'POST',
    url: '/hidden',
    headers: { 'content-type': 'application/json' },
    payload: '"b2"',
  } as const
  const { statusCode, body } = await app.inject(asked)
  t.equal(statusCode, 501)
  t.match(body, 'the document has no valid example of this response, and none can be made of its schema; add one')

  symlinkSync(join(fileURLToPath(import.meta.resolve('tsx/package.json')), '../..'), join(project, 'node_modules'))
  // The default reporter depends on the version of Node. A Node that strips types runs a project of init without tsx.
  const loader = runtimeFor(process.versions.node).command === 'tsx' ? ['--import=tsx'] : []
  const command = [...loader, '--test', '--test-reporter=tap', 'test/contract.test.ts']
  const output = execFileSync(process.execPath, command, {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  t.match(output, /^# fail 0$/m)
  const untested = Array.from(output.matchAll(/^# (\w+) is not tested: (.*)$/gm), ([, name, reason]) => [name, reason])
  t.match(Object.fromEntries(untested), {
    ...Object.fromEntries(rejected.map((name) => [name, /^no value for (body|query): /])),
    // The test makes no numbers between narrow bounds, and the type of this schema rejects the made value.
    decimalRange: /^no value for body: /,
    condition: 'it is not written yet: it responds with 501',
  })
  t.equal(untested.length, rejected.length + 2)
})
