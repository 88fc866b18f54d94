import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { run as changes } from '../../src/cli/changes.ts'
import { run as generate } from '../../src/cli/generate.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { copyPaths } from '../../src/read/copy-paths.ts'
import { fetchDocument } from '../../src/read/read-document.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { redirect, startPages } from '../support/url-server.ts'

const head = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n'
const pathsWith = (schema: string, more = '') => `${head}paths:
  /a:
    post:
      operationId: postA
      requestBody: { required: true, content: { application/json: { schema: ${schema} } } }
      responses: { '204': { description: Done. }${more} }
`

/** Returns the files of a document as a project has them. */
async function saved(url: string, options = {}, document?: string): Promise<Record<string, string>> {
  const { directory, paths } = await fetchDocument(url, options, document)
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}

t.test('the files of a document are saved as they are, in the directories of their URLs', async (t) => {
  const pages = {
    '/v1/spec/api.yaml': pathsWith("{ $ref: '../common/pet.yaml' }"),
    '/v1/common/pet.yaml': "type: object\nproperties: { tag: { $ref: 'tag.json#/tag' }, owner: { $ref: './pet.yaml' } }",
    '/v1/common/tag.json': '{ "tag": { "type": "string" } }',
  }
  const { at, asked } = await startPages(t, pages)
  enterDirectory(t, {})
  t.same(await saved(`${at}/v1/spec/api.yaml`), {
    'openapi/spec/api.yaml': pages['/v1/spec/api.yaml'],
    'openapi/common/pet.yaml': pages['/v1/common/pet.yaml'],
    'openapi/common/tag.json': pages['/v1/common/tag.json'],
  })
  t.same(asked, Object.keys(pages), 'each is fetched once')
  const { files, warnings } = await compileContract(`${at}/v1/spec/api.yaml`)
  t.match(files['openapi.json'], '"title": "A"')
  t.same(warnings, [])
})

t.test('a reference to a file that has another name here leads to that file', async (t) => {
  const { at } = await startPages(t, {
    '/api': `\uFEFF${head}paths:
  /a:
    $ref: >-
      schemas/path%20item?part=1
  /b: { $ref: /deep/item }
components:
  schemas:
    A: { $ref: &long 'schemas/types?name=a' }
    B: { $ref: "schemas/types?name=b#/b" }
    C: { $ref: *long }
    D: { $ref: 'schemas/..%2f..%2fetc/passwd%00' }
    E: { $ref: ../../../../etc/passwd }
    F: { $ref: 'ORIGIN/schemas/types?name=a' }
    G: { $ref: schemas/con.yaml }
    H: { $ref: SCHEMAS/TYPES.JSON }
    I: { $ref: 'schemas/types.json' }
    J: { $ref: 'schemas/types.json/inner.yaml' }
    K:
      type: object
      discriminator: { propertyName: kind, mapping: { a: 'schemas/types?name=a', b: B, c: c } }
info:
`.replace('info:\n', ''),
    '/schemas/path%20item?part=1': '{ "get": { "operationId": "getA", "responses": { "204": { "description": "A" } } } }',
    '/deep/item': "get: { operationId: getB, responses: { '200': { description: { $ref: ./text.md } } } }",
    '/deep/text.md': '# Text',
    '/schemas/types?name=a': 'type: string',
    '/schemas/types?name=b': 'b: { $ref: ?name=a }',
    '/schemas/..%2f..%2fetc/passwd%00': 'type: integer',
    '/etc/passwd': 'type: number',
    '/schemas/con.yaml': 'type: boolean',
    '/SCHEMAS/TYPES.JSON': '{ "type": "array" }',
    '/schemas/types.json': '{ "type": "object" }',
    '/schemas/types.json/inner.yaml': 'type: object',
  })
  enterDirectory(t, {})
  const server = await startPages(t, {})
  t.ok(server)
  const files = await saved(`${at}/api`)
  t.same(Object.keys(files), [])
  t.equal(files['openapi/api.yaml'], '')
})
