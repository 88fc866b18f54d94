import { join } from 'node:path'
import { parseExactJson } from 'fastify-contract/json'
import t, { type Test } from 'tap'
import { withCodeSamples } from '../../src/docs/code-samples.ts'
import { tryPage } from '../../src/docs/try-page.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { writeStale } from '../../src/emit/generated-files.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { exampleCalls } from '../../src/examples/example-calls.ts'
import { generatedContract, mockServer } from '../../src/mock/mock-server.ts'
import { noConfiguration } from '../../src/redocly/redocly.ts'

/** Two integers with one double. */
const [one, two] = ['9007199254740992', '9007199254740993']

/** Returns a document with one operation, whose query parameters are schemas in YAML. */
const withParameters = (schemas: Record<string, string>, version = '3.1.0', more = ''): string => `
openapi: ${version}
info: { title: Digits, version: '1' }
servers: [{ url: http://127.0.0.1 }]
security: []
${more}
paths:
  /:
    get:
      operationId: get
      parameters:
${Object.entries(schemas)
  .map(([name, schema]) => `        - { name: ${name}, in: query, schema: ${schema} }`)
  .join('\n')}
      responses: { '204': { description: d } }
`

/** Returns the schemas of the query parameters of the only operation, and what they refer to. */
async function querySchemas(t: Test, files: Record<string, string>, rules?: string) {
  const directory = t.testdir(files)
  const path = join(directory, Object.keys(files)[0] as string)
  const { routes } = await compileContract(path, rules === undefined ? {} : { rules: join(directory, rules) })
  const [operation] = routes.operations
  return { ...Object(operation?.schema.querystring).properties, ...routes.schemas }
}

t.test('a text that names another integer with the same double changes nothing', async (t) => {
  const document = withParameters({
    a: '{ type: integer, maximum: 9223372036854775807, description: 9223372036854775808 is none }',
    b: `{ type: integer, format: uint64, minimum: ${two}, description: ${one} or so }`,
    c: `{ type: integer, format: int64, maximum: ${two}, default: '${one}' }`,
  })
  t.match(await querySchemas(t, { 'openapi.yaml': document }), {
    a: { 'x-exact-maximum': '9223372036854775807' },
    b: { 'x-exact-minimum': two },
    c: { 'x-exact-maximum': two },
  })
})

const wide = 'type: integer, format: int64'

t.test('each keyword has the digits of its place', async (t) => {
  const document = withParameters({
    least: `{ ${wide}, minimum: ${one}, exclusiveMaximum: ${two} }`,
    most: `{ ${wide}, exclusiveMinimum: ${one}, maximum: ${two} }`,
    steps: `{ ${wide}, allOf: [{ multipleOf: ${one} }, { multipleOf: ${two} }] }`,
    listed: `{ ${wide}, enum: [${one}, ${two}, 1] }`,
    only: `{ ${wide}, const: ${two} }`,
    map: `{ type: object, patternProperties: { ^a: { ${wide}, const: ${one} }, ^b: { ${wide}, const: ${two} } } }`,
    list: `{ type: array, items: { ${wide}, minimum: ${two} }, maxItems: ${two} }`,
    number: `{ type: number, minimum: ${two}, maximum: ${two} }`,
  })
  const same = 2 ** 53
  t.match(await querySchemas(t, { 'openapi.yaml': document }), {
    least: { 'x-exact-minimum': one, 'x-exact-exclusiveMaximum': two, minimum: undefined },
    most: { 'x-exact-exclusiveMinimum': one, 'x-exact-maximum': two },
    steps: { allOf: [{ 'x-exact-multipleOf': one }, { 'x-exact-multipleOf': two }] },
    listed: { enum: [same, same, 1], 'x-exact-enum': `${one},${two},1` },
    only: { const: same, 'x-exact-const': two },
    map: { patternProperties: { '^a': { 'x-exact-const': one }, '^b': { 'x-exact-const': two } } },
    list: { items: { 'x-exact-minimum': two }, maxItems: same },
    number: { minimum: same, maximum: same, 'x-exact-minimum': undefined },
  })
})

t.test('an integer is the same in each notation of YAML', async (t) => {
  const document = withParameters(
    {
      anchored: '{ <<: *base, minimum: *two }',
      alias: '*base',
      hex: `{ ${wide}, maximum: 0x20000000000001 }`,
      octal: `{ ${wide}, maximum: 0o400000000000000001 }`,
      signed: `{ ${wide}, maximum: +${two} }`,
      zeros: `{ ${wide}, minimum: -00${two}, maximum: 00${two} }`,
      power: `{ ${wide}, maximum: 0.${two}e+16 }`,
      tagged: `{ ${wide}, maximum: !!int ${two} }`,
      text: `{ type: string, enum: [${two}, '${one}'] }`,
    },
    '3.1.0',
    `x-base: &base { ${wide}, maximum: ${two}, x-limit: &two ${two} }`,
  )
  const most = { 'x-exact-maximum': two }
  t.match(await querySchemas(t, { 'openapi.yaml': document }), {
    anchored: { 'x-exact-minimum': two, ...most },
    alias: most,
    hex: most,
    octal: most,
    signed: most,
    zeros: { 'x-exact-minimum': `-${two}`, ...most },
    power: most,
    tagged: most,
    text: { enum: [two, one] },
  })
})

t.test('a number beyond every double is refused', async (t) => {
  const directory = t.testdir({ 'openapi.yaml': withParameters({ many: `{ ${wide}, maximum: 1e400 }` }) })
  await t.rejects(compileContract(join(directory, 'openapi.yaml'), { rules: noConfiguration }), {
    message: /must be a number, not Infinity/,
  })
})

t.test('digits are kept in several files, behind references and by both upgrades', async (t) => {
  const limits = `{"type":"integer","format":"int64","maximum":${two},"exclusiveMaximum":true,"minimum":${one}}`
  const files = {
    'openapi.yaml': withParameters(
      {
        own: `{ ${wide}, const: ${one}, nullable: true }`,
        json: '{ $ref: limits.json }',
        yaml: "{ $ref: 'y.yaml#/a' }",
      },
      '3.0.3',
    ),
    'limits.json': limits,
    'y.yaml': `a: { allOf: [{ $ref: '#/b' }], maximum: ${two} }\nb: { ${wide}, minimum: ${one}, title: ${one} }`,
  }
  const found = await querySchemas(t, files)
  const text = JSON.stringify(found)
  t.match(found, { own: { 'x-exact-const': one }, limits: { 'x-exact-exclusiveMaximum': two, 'x-exact-minimum': one } })
  t.match(text, `"x-exact-maximum":"${two}"`)
  t.match(text, `"x-exact-minimum":"${one}"`)
  const draft4 = withParameters({
    a: `{ $schema: 'http://json-schema.org/draft-04/schema#', ${wide}, minimum: ${two}, exclusiveMinimum: true }`,
  })
  t.match(await querySchemas(t, { 'openapi.yaml': draft4 }), { a: { 'x-exact-exclusiveMinimum': two } })
})

const decorators = `
remove-x-internal: on
info-override: { title: Decorated }
`
const indented = decorators.replaceAll('\n', '\n      ')

t.test('digits stay in their places while a decorator moves them', async (t) => {
  const parameters = {
    first: `{ ${wide}, minimum: ${one} }, x-internal: true`,
    second: `{ ${wide}, minimum: ${two} }`,
    third: `{ ${wide}, minimum: ${one} }`,
  }
  const files = { 'openapi.yaml': withParameters(parameters), 'redocly.yaml': `decorators:${indented}` }
  const found = await querySchemas(t, files, 'redocly.yaml')
  t.match(found, { second: { 'x-exact-minimum': two }, third: { 'x-exact-minimum': one } })
  t.notOk('first' in found)
})

t.test('a decorator of one document leaves the integers whose double is theirs alone', async (t) => {
  const configuration = `apis:\n  digits:\n    root: openapi.yaml\n    decorators:${indented}`
  const directory = t.testdir({
    'openapi.yaml': withParameters({
      a: `{ ${wide}, minimum: ${two} }, x-internal: true`,
      b: `{ ${wide}, const: ${two} }`,
    }),
    'redocly.yaml': configuration,
    'ambiguous.yaml': withParameters({ a: `{ ${wide}, minimum: ${two}, maximum: ${one} }` }),
    'ambiguous-rules.yaml': configuration.replace('openapi', 'ambiguous'),
  })
  const cwd = process.cwd()
  t.teardown(() => process.chdir(cwd))
  process.chdir(directory)
  const { routes, document } = await compileContract('openapi.yaml', { rules: 'redocly.yaml' })
  t.equal(document.info.title, 'Decorated')
  t.match(routes.operations[0]?.schema.querystring, { properties: { b: { 'x-exact-const': two } } })
  await t.rejects(compileContract('ambiguous.yaml', { rules: 'ambiguous-rules.yaml' }), {
    message: /schema\/minimum: .* 2\^53 - 1 whose digits are unknown/,
  })
})

t.test('all that is generated shows the digits of each place', async (t) => {
  const id = (digits: string) => `{ ${wide}, example: ${digits} }`
  const directory = t.testdir({
    'openapi.yaml': `
openapi: 3.1.0
info: { title: Digits, version: '1' }
servers: [{ url: http://127.0.0.1 }]
security: []
paths:
  /ids/{id}:
    post:
      operationId: add
      x-mcp: true
      parameters:
        - { name: id, in: path, required: true, schema: ${id(one)} }
        - { name: next, in: query, schema: { ${wide}, default: ${two} }, example: ${two} }
        - { name: X-Id, in: header, required: true, schema: { ${wide}, const: ${two} } }
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Pair' }
            example: { one: ${one}, two: ${two} }
      responses:
        '200':
          description: Not ${one}.
          headers:
            X-One: { required: true, schema: ${id(one)} }
            X-Two: { required: true, schema: ${id(two)} }
          content:
            application/json: { schema: { $ref: '#/components/schemas/Pair' } }
components:
  schemas:
    Pair:
      type: object
      required: [one, two]
      properties:
        one: { ${wide}, enum: [${one}] }
        two: { ${wide}, example: ${two}, default: ${two}, description: Not ${one}. }
        'toJSON': { type: array, items: { ${wide} }, default: [${two}] }
`,
  })
  const compiled = await compileContract(join(directory, 'openapi.yaml'))
  const { files } = compiled
  const published = parseExactJson(String(files['openapi.json'])) as Document
  t.match(Object(published.components).schemas.Pair.properties, {
    one: { enum: [BigInt(one)] },
    two: { example: BigInt(two), default: BigInt(two) },
    toJSON: { default: [BigInt(two)] },
  })
  const types = String(files['api.d.ts'])
  t.match(types, `@default ${two}`)
  t.match(types, `@example ${two}`)
  t.match(types, new RegExp(`@default \\[\\s*(?:\\*\\s*)?${two}`))
  t.match(types, `Not ${one}.`)
  const requests = String(files['requests.http'])
  t.match(requests, new RegExp(`/ids/${one}\\s+\\?next=${two}`))
  t.match(requests, `X-Id: ${two}`)
  t.match(requests, `"one": ${one},\n  "two": ${two}`)
  t.match(JSON.parse(String(files['mcp.json'])).tools[0].inputSchema, {
    properties: { header: { properties: { 'X-Id': { const: two } } } },
    $defs: { Pair: { properties: { one: { enum: [one] } } } },
  })
  t.match(compiled.contract.routes.operations[0]?.parameters, [{}, { default: two }, {}])
  t.match(
    handlerStubs(compiled, undefined).join(),
    new RegExp(`'X-One': ${one}n, 'X-Two': ${two}n.*body: .*one: ${one}n.*two: ${two}n.*toJSON: .*${two}n`, 's'),
  )
  await writeStale(files, join(directory, 'generated'))
  const contract = await generatedContract(join(directory, 'generated'))
  const [call] = exampleCalls(contract, 'token')
  t.match(call?.request, {
    url: `/ids/${one}?next=${two}`,
    headers: { 'X-Id': two },
    payload: `{"one":${one},"two":${two}}`,
  })
  const samples = JSON.stringify(withCodeSamples(published, './client.ts'), (_, value) =>
    typeof value === 'bigint' ? '' : value,
  )
  t.match(samples, `{ one: ${one}n, two: ${two}n }`)
  t.match(samples, `/ids/${one}?next=${two}`)
  const page = await tryPage(published)
  t.match(page, `value="${two}"`)
  t.match(page, `one&quot;: ${one},\n  &quot;two&quot;: ${two}`)
  const errorBody = ({ message }: { message: string }) => ({ contentType: 'text/plain', body: message })
  const { app } = mockServer(await generatedContract(join(directory, 'generated')), errorBody, {})
  t.teardown(() => app.close())
  const response = await app.inject({ method: 'POST', ...call?.request } as never)
  t.match(response.headers, { 'x-one': one, 'x-two': two })
  t.match(response.body, `{"one":${one},"two":${two}`)
  const other = `{"one":${two},"two":${two}}`
  t.equal((await app.inject({ method: 'POST', ...call?.request, payload: other } as never)).statusCode, 400)
})
