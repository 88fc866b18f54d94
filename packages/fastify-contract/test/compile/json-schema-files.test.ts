import t, { type Test } from 'tap'
import { compileContract } from '../../src/compile/compile.ts'
import { bothValidators } from '../support/both-validators.ts'

type Files = { [name: string]: string | Files }

const head = (version = '3.1.0') => `openapi: ${version}
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post:
      operationId: postA
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }
      responses: { '204': { description: Done. } }
components:
  schemas:
`

/** Compiles a document with these shared schemas and files. A request has the schema A. */
async function compiled(t: Test, schemas: string, { version, ...files }: Files & { version?: string } = {}) {
  const before = process.cwd()
  process.chdir(t.testdir({ 'openapi.yaml': head(version) + schemas.replace(/^/gm, '    '), ...files }))
  t.teardown(() => process.chdir(before))
  const result = await compileContract('openapi.yaml')
  process.chdir(before)
  const body = result.routes.operations[0]?.schema.body?.content['application/json']?.schema ?? false
  const validate = bothValidators(result.routes).request(body, 'body')
  const { components } = JSON.parse(result.files['openapi.json'] as string) as { components: { schemas: object } }
  const { length } = JSON.stringify(components)
  const isValid = (value: unknown) => 'value' in validate({ value, length } as never)
  return { ...result, isValid, schemas: components.schemas as Record<string, object> }
}

const values = (isValid: (value: unknown) => boolean, valid: unknown[], invalid: unknown[]) => (t: Test) => {
  for (const value of valid) t.ok(isValid(value), JSON.stringify(value))
  for (const value of invalid) t.notOk(isValid(value), JSON.stringify(value))
}

t.test('a generic list has a copy for each schema that gives its items a meaning', async (t) => {
  const { isValid, schemas, files, warnings } = await compiled(
    t,
    `A: { properties: { pets: { $ref: pets }, tags: { $ref: tags }, any: { $ref: list }, more: { $ref: pets } } }
List:
  $id: list
  type: object
  required: [items]
  properties: { items: { type: array, items: { $dynamicRef: '#item' } } }
  $defs: { any: { $dynamicAnchor: item } }
Pets: { $id: pets, $ref: list, $defs: { pet: { $dynamicAnchor: item, $ref: '#/components/schemas/Pet' } } }
Tags: { $id: tags, $ref: list, $defs: { tag: { $dynamicAnchor: item, type: string } } }
Pet: { type: object, required: [name], properties: { name: { type: string }, size: { type: integer, format: int64 } } }
`,
  )
  values(
    isValid,
    [{ pets: { items: [{ name: 'a' }] }, tags: { items: ['a'] }, any: { items: [1, {}] } }],
    [{ pets: { items: [{}] } }, { tags: { items: [1] } }, { more: { items: ['a'] } }, { any: {} }],
  )(t)
  t.same(warnings, [])
  t.same(Object.keys(schemas), ['A', 'List', 'Pets', 'Tags', 'Pet', 'List.Pet', 'List.Tags'])
  t.notMatch(files['openapi.json'] as string, /dynamic|resource|\$id/)
  t.match(files['api.d.ts'] as string, /"List\.Pet": \{\s+items: components\["schemas"\]\["Pet"\]\[\]/)
})
