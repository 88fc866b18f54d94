import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compileContract } from '../../src/compile/compile.ts'

/** Returns a document with one operation, whose parameters are written in YAML. */
const withParameters = (...parameters: string[]): string => `
openapi: 3.1.0
info: { title: Digits, version: '1' }
servers: [{ url: http://127.0.0.1 }]
security: []
paths:
  /:
    get:
      operationId: get
      parameters:
${parameters.map((parameter) => `        - ${parameter}`).join('\n')}
      responses: { '204': { description: d } }
`

/** Returns the schemas of the query parameters of the only operation. */
async function querySchemas(t: Test, files: Record<string, string>): Promise<Record<string, object>> {
  const directory = t.testdir(files)
  const { routes } = await compileContract(join(directory, Object.keys(files)[0] as string))
  const [operation] = routes.operations
  return Object(operation?.schema.querystring).properties
}

t.test('a text that names another integer with the same double changes nothing', async (t) => {
  const document = withParameters(
    '{ name: a, in: query, description: 9223372036854775808 is none, schema: { type: integer, maximum: 9223372036854775807 } }',
    '{ name: b, in: query, description: 9007199254740994 or so, schema: { type: integer, format: uint64, minimum: 9007199254740995 } }',
    '{ name: c, in: query, schema: { type: integer, description: 9223372036854775806, format: uint64, maximum: 9223372036854775807 } }',
  )
  t.match(await querySchemas(t, { 'openapi.yaml': document }), {
    a: { 'x-exact-maximum': '9223372036854775807' },
    b: { 'x-exact-minimum': '9007199254740995' },
    c: { 'x-exact-maximum': '9223372036854775807' },
  })
})
