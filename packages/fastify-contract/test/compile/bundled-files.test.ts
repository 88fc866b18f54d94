import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { compileContract } from '../../src/compile/compile.ts'
import { bundle } from '../../src/compile/redocly.ts'

type Files = { [name: string]: string | Files }

/** Changes to a new directory with these files. */
function enterDirectory(t: Test, files: Files): string {
  const before = process.cwd()
  const directory = t.testdir(files)
  t.teardown(() => process.chdir(before))
  process.chdir(directory)
  return directory
}

const head = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n'
const operation = (id: string, schema: string, more = '') =>
  `{ operationId: ${id}, ${more} responses: { '200': { description: A, content: { application/json: { schema: ${schema} } } } } }`

/** The references that have no target, and the reasons. */
const broken: [reference: string, reason: RegExp][] = [
  [
    './missing.yaml#/Cat',
    /missing\.yaml#\/Cat does not resolve \(there is no file missing\.yaml\); correct the reference/,
  ],
  ['./folder', /\(there is no file folder\)/],
  ['parts/open.yaml', /does not resolve \(parts\/open\.yaml:\d+:\d+: .*; correct it\); correct the reference/],
  ['parts/twice.yaml#/a', /\(parts\/twice\.yaml:2:1: duplicate key "a"; remove one of them\)/],
  ['parts/text.yaml', /\(parts\/text\.yaml has no object at #\)/],
  ['parts/empty.yaml', /\(parts\/empty\.yaml has no object at #\)/],
  ['parts/notes.txt', /does not resolve/],
  ['parts/a.yaml#/None', /\(parts\/a\.yaml has no value at #\/None\)/],
  ['parts/a.yaml#/Text', /\(parts\/a\.yaml has no object at #\/Text\)/],
  [
    'parts/a.yaml#/Far',
    /#\/components\/schemas\/Own does not resolve \(openapi\.yaml has it: \.\.\/openapi\.yaml#\/comp/,
  ],
  ['parts/a.yaml#/Loop', /does not resolve \(it leads to references only\)/],
  ['#/components/schemas/None', /#\/components\/schemas\/None does not resolve; correct the reference/],
  ['#/components/schemas/%zz', /#\/components\/schemas\/%zz does not resolve; correct the reference/],
  ['#/components/schemas/~2', /does not resolve; correct the reference/],
  ['#here', /#here does not resolve \(no schema has this \$anchor\)/],
  ['urn:example:cat', /\(no file and no schema of the document has this URI\)/],
  ['https://example.invalid/a', /is a URL, and nothing is fetched; download it beside the document/],
]

const parts = {
  'open.yaml': 'a: [',
  'twice.yaml': 'a: {}\na: {}\n',
  'text.yaml': 'text',
  'empty.yaml': '',
  'notes.txt': 'just a text',
  'a.yaml': `Text: text
Far: { type: object, properties: { own: { $ref: '#/components/schemas/Own' } } }
Loop: { $ref: '#/Pool' }
Pool: { $ref: '#/Loop' }
`,
}

t.test('a reference without a target costs the operations that reach it', async (t) => {
  enterDirectory(t, { folder: {}, parts })
  const places: [name: string, at: (reference: string) => string][] = [
    ['schema', (reference) => operation('broken', `{ $ref: '${reference}' }`)],
    ['nested', (reference) => operation('broken', `{ type: array, items: { $ref: '${reference}' } }`)],
    [
      'mapping',
      (reference) =>
        operation(
          'broken',
          `{ oneOf: [{ $ref: '#/components/schemas/Own' }], discriminator: { propertyName: a, mapping: { b: '${reference}' } } }`,
        ),
    ],
    ['parameter', (reference) => operation('broken', '{}', `parameters: [{ $ref: '${reference}' }],`)],
  ]
  for (const [reference, reason] of broken) {
    for (const [place, at] of reference.startsWith('parts/a.yaml#/') ? places.slice(0, 2) : places) {
      const text = `${head}x-data: { $ref: '${reference}', a: { $ref: gone.yaml } }
paths:
  /ok: { get: ${operation('ok', "{ $ref: '#/components/schemas/Own' }")} }
  /broken: { post: ${at(reference)} }
components: { schemas: { Own: { type: object } } }
`
      writeFileSync('openapi.yaml', text)
      const title = `${reference} of a ${place}`
      const document = JSON.stringify(await bundle('openapi.yaml'))
      t.match(document, `"x-data":{"$ref":"${reference}","a":{"$ref":"gone.yaml"}}`, title)
      const { skipped, routes } = await compileContract('openapi.yaml', { skipUnsupported: true })
      t.match(skipped[0]?.text, reason, title)
      t.match(skipped[0]?.text, /\((?:openapi|parts\/a)\.yaml:\d+:\d+\)$/, title)
      t.same([...new Set(skipped.flatMap(({ operations }) => operations))], ['POST /broken'], title)
      t.match(routes.operations, [{ operationId: 'ok' }], title)
      t.equal(routes.operations.length, 1)
    }
  }
})
