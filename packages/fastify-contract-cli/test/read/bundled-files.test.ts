import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../../src/cli/init.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { bundle, lint } from '../../src/redocly/redocly.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { serveRoutes } from '../support/serve-document.ts'

/** Runs init without the documentation, which takes seconds. */
const init = (args: string[]) => run(['--without', 'docs', ...args])

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
  ['parts/a.yaml#/Loop', /#\/Pool refers back to itself, so validation would never end; correct the reference/],
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
  for (const [reference, reason] of broken)
    for (const [place, at] of /missing|None$/.test(reference) ? places : places.slice(0, 1)) {
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
})

t.test('a problem in a second file names the file, the line and the column', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': `${head}paths:
  /ok: { get: ${operation('ok', '{ type: string }')} }
  /a: { $ref: paths/a.yaml }
components: { schemas: { $ref: schemas/all.yaml } }
`,
    paths: {
      'a.yaml': `post:
  operationId: postA
  requestBody: { content: { application/json: { schema: { $ref: ../schemas/all.yaml#/Wrong } } } }
  responses: { '204': { description: Done. } }
`,
    },
    schemas: { 'all.yaml': "Wrong:\n  type: object\n  properties:\n    a: { type: string, pattern: '(' }\n" },
    'strict.yaml': 'rules: { operation-summary: error }\n',
  })
  const { skipped } = await compileContract('openapi.yaml', { skipUnsupported: true })
  t.match(skipped, [{ text: /\(schemas\/all\.yaml:4:\d+\)$/, operations: ['POST /a'] }])
  const [finding] = (await lint('openapi.yaml', 'strict.yaml')).filter(({ location: [at] }) =>
    at?.source.ref.endsWith('a.yaml'),
  )
  t.match(finding?.location, [{ source: { ref: 'paths/a.yaml' }, start: { line: 1, col: 1 } }])
})

const animal = (name: string) => `  ${name}:
    type: object
    required: [kind, ${name}]
    properties: { kind: { type: string }, ${name}: { type: string } }
`

t.test('a discriminator has the names that schemas have in their own files', async (t) => {
  const discriminator = 'discriminator: { propertyName: kind }'
  enterDirectory(t, {
    'openapi.yaml': `${head}paths:
  /own: { get: ${operation('own', "{ $ref: '#/components/schemas/Cat' }")} }
  /one: { post: { operationId: one, requestBody: { $ref: zoo.yaml#/bodies/One }, responses: { '204': { description: A } } } }
  /pet: { post: { operationId: pet, requestBody: { $ref: zoo.yaml#/bodies/Pet }, responses: { '204': { description: A } } } }
components: { schemas: { Cat: { type: integer }, Kitten: { type: integer } } }
`,
    'zoo.yaml': `bodies:
  One:
    content:
      application/json:
        schema: { oneOf: [{ $ref: '#/schemas/Cat' }, { $ref: '#/schemas/Dog' }], ${discriminator} }
  Pet: { content: { application/json: { schema: { $ref: '#/schemas/Pet' } } } }
schemas:
${animal('Cat')}${animal('Dog')}  Pet:
    type: object
    required: [kind]
    properties: { kind: { type: string } }
    ${discriminator}
  Kitten: { allOf: [{ $ref: '#/schemas/Pet' }, { required: [age] }] }
  Puppy: { allOf: [{ $ref: '#/schemas/Pet' }] }
x-used: [{ $ref: '#/schemas/Kitten' }]
`,
  })
  writeFileSync(
    'zoo.yaml',
    readFileSync('zoo.yaml', 'utf8').replace(
      `    ${discriminator}\n`,
      `    ${discriminator}\n    anyOf: [{ $ref: '#/schemas/Kitten' }, { $ref: '#/schemas/Puppy' }]\n`,
    ),
  )
  const { contract, files, warnings } = await compileContract('openapi.yaml')
  t.same(warnings, [])
  const { components } = JSON.parse(files['openapi.json'] as string)
  t.same(components.schemas.Pet.discriminator.mapping, {
    Kitten: '#/components/schemas/Kitten-2',
    Puppy: '#/components/schemas/Puppy',
  })
  t.match(files['api.d.ts'], /kind: "Cat"/)
  t.notMatch(files['api.d.ts'], /kind: "\w+-2"/)
  const done = async () => ({ status: 204 })
  const app = serveRoutes(contract.routes, {
    handlers: { own: async () => ({ status: 200, body: 1n }), one: done, pet: done },
  } as never)
  t.teardown(() => app.close())
  const post = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).statusCode
  t.equal(await post('/one', { kind: 'Cat', Cat: 'a' }), 204)
  t.equal(await post('/one', { kind: 'Dog', Dog: 'a' }), 204)
  t.equal(await post('/one', { kind: 'Cat-2', Cat: 'a' }), 400)
  t.equal(await post('/pet', { kind: 'Kitten', age: 1 }), 204)
  t.equal(await post('/pet', { kind: 'Kitten' }), 400)
  t.equal(await post('/pet', { kind: 'Puppy' }), 204)
})

t.test('a value of a discriminator that stands for two schemas gives a warning', async (t) => {
  const schema = (reference: string) => `{ $ref: '${reference}' }`
  const files = {
    'a.yaml': `x:\n${animal('Cat')}`,
    'b.yaml': `x:\n${animal('Cat').replace('type: object', 'type: object\n    maxProperties: 3')}`,
  }
  const union = (mapping: string) =>
    `{ oneOf: [${schema('a.yaml#/x/Cat')}, ${schema('b.yaml#/x/Cat')}], discriminator: { propertyName: kind${mapping} } }`
  enterDirectory(t, {
    ...files,
    'plain.yaml': `${head}paths: { /a: { get: ${operation('a', union(''))} } }\n`,
    'mapped.yaml': `${head}paths: { /a: { get: ${operation('a', union(', mapping: { one: a.yaml#/x/Cat, two: b.yaml#/x/Cat }'))} } }\n`,
    'half.yaml': `${head}paths: { /a: { get: ${operation('a', union(', mapping: { one: a.yaml#/x/Cat }'))} } }\n`,
  })
  const mappingOf = async (name: string) => {
    const { files, warnings } = await compileContract(name)
    const { paths } = JSON.parse(files['openapi.json'] as string)
    const { schema } = paths['/a'].get.responses[200].content['application/json']
    return { mapping: schema.discriminator.mapping, warnings }
  }
  const place = '#/paths/~1a/get/responses/200/content/application~1json/schema/discriminator'
  t.same(await mappingOf('plain.yaml'), {
    mapping: { Cat: '#/components/schemas/Cat', 'Cat-2': '#/components/schemas/Cat-2' },
    warnings: [
      `${place}: the value "Cat" stands for Cat, so "Cat-2" stands for the other schema of that name; add a mapping (plain.yaml:3:197)`,
    ],
  })
  const one = '#/components/schemas/Cat'
  t.same(await mappingOf('mapped.yaml'), { mapping: { one, two: '#/components/schemas/Cat-2' }, warnings: [] })
  t.same(await mappingOf('half.yaml'), { mapping: { one, Cat: '#/components/schemas/Cat-2' }, warnings: [] })
})

t.test('the bundled document is the one that the files describe', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': `${head.replace('title: A', 'title: A, description: { $ref: about.md }')}tags: { $ref: parts/tags.json }
paths: { $ref: paths.yaml }
components:
  schemas:
    Size: { $ref: 'parts/Size.yaml', description: Own. }
    Alias: { $ref: 'openapi.yaml#/components/schemas/Size' }
    Through: { $ref: '#/components/schemas/Size/$defs/n' }
`,
    'about.md': '# Text',
    'paths.yaml': `/a: { $ref: 'parts/b.yaml#/x~1y%7Bz%7D' }
/c:
  get:
    operationId: getC
    callbacks: { again: { 'http://a': { $ref: '#/~1c' } } }
    responses: { '200': { $ref: parts/b.yaml#/R } }
`,
    parts: {
      'tags.json': '[{ "name": "a" }]',
      'Size.yaml':
        'type: object\n$defs: { n: { type: integer } }\nproperties: { same: { $ref: Same.yaml }, odd: { $ref: "odd name.yaml" } }',
      'Same.yaml': 'type: string',
      'odd name.yaml': 'true',
      'b.yaml': `x/y{z}:
  get:
    operationId: getA
    parameters: [{ $ref: '#/P' }]
    responses: { '200': { $ref: '#/R' } }
P: { name: p, in: query, schema: { $ref: more/Same.yaml } }
R:
  description: R
  headers: { H: { $ref: '#/H' } }
  content:
    application/json:
      schema: { type: array, items: { $ref: more/other.yaml#/Same } }
      examples: { text: { externalValue: ../about.md }, data: { externalValue: tags.json } }
H: { schema: { $ref: ../openapi.yaml#/components/schemas/Size } }
`,
      more: { 'Same.yaml': 'type: string', 'other.yaml': 'Same: { type: boolean }' },
    },
    'all.yaml': 'decorators: { info-override: { version: 2.0.0 } }',
  })
  const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const response = { $ref: '#/components/responses/R' }
  const expected = {
    openapi: '3.1.0',
    info: { title: 'A', description: '# Text', version: '1.0.0' },
    tags: [{ name: 'a' }],
    paths: {
      '/a': {
        get: { operationId: 'getA', parameters: [{ $ref: '#/components/parameters/P' }], responses: { 200: response } },
      },
      '/c': {
        get: {
          operationId: 'getC',
          callbacks: {
            again: {
              'http://a': {
                get: {
                  operationId: 'getC',
                  callbacks: { again: { 'http://a': { $ref: '#/paths/~1c/get/callbacks/again/http%3A~1~1a' } } },
                  responses: { 200: response },
                },
              },
            },
          },
          responses: { 200: response },
        },
      },
    },
    components: {
      schemas: {
        Size: {
          type: 'object',
          $defs: { n: { type: 'integer' } },
          properties: { same: schema('Same'), odd: schema('odd-name') },
          description: 'Own.',
        },
        Alias: schema('Size'),
        Through: { $ref: '#/components/schemas/n' },
        n: { type: 'integer' },
        Same: { type: 'string' },
        'odd-name': true,
        'Same-2': { type: 'boolean' },
      },
      parameters: { P: { name: 'p', in: 'query', schema: schema('Same') } },
      responses: {
        R: {
          description: 'R',
          headers: { H: { $ref: '#/components/headers/H' } },
          content: {
            'application/json': {
              schema: { type: 'array', items: schema('Same-2') },
              examples: { text: { value: '# Text' }, data: { value: [{ name: 'a' }] } },
            },
          },
        },
      },
      headers: { H: { schema: schema('Size') } },
    },
  }
  t.same(await bundle('openapi.yaml'), expected)
  t.same(await bundle('openapi.yaml', 'all.yaml'), { ...expected, info: { ...expected.info, version: '2.0.0' } })
})

t.test('init copies the files of references, however written, and the copy compiles to the same', async (t) => {
  enterDirectory(t, {
    spec: {
      'openapi.yaml': `${head}paths:
  /a:
    $ref: >-
      with%20space/a.yaml#/item
`,
      'with space': {
        'a.yaml': `item:
  get:
    operationId: getA
    responses:
      '200':
        description: A
        content:
          application/json:
            schema:
              $ref: "deeper/\\
                b.yaml"
            examples: { one: { externalValue: one.json } }
`,
        'one.json': '{ "kind": "dog" }',
        deeper: {
          'b.yaml': `oneOf: [{ $ref: ../dog.yaml }]
discriminator: { propertyName: kind, mapping: { dog: ../dog.yaml } }
`,
        },
        'dog.yaml':
          'type: object\nrequired: [kind]\nproperties: { kind: { type: string }, n: { type: integer, maximum: 9007199254740993 } }\n',
      },
    },
  })
  t.capture(console, 'log')
  await init(['spec/openapi.yaml', 'new'])
  const { files } = await compileContract('new/openapi/openapi.yaml')
  const published = readFileSync('new/generated/openapi.json', 'utf8')
  t.equal(files['openapi.json'], published)
  t.match(published, /"maximum": 9007199254740993/)
  t.match(published, /"dog": "#\/components\/schemas\/dog"/)
})

t.test('an object for which OpenAPI has no reference is read in place of one', async (t) => {
  const own = `{ operationId: a, security: [{ token: [] }], responses: { '204': { description: Done. } } }`
  const form = `{ content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { tags: { type: array, items: { type: integer } } } }, encoding: { tags: { $ref: '#/x-encoding' } } } } }`
  enterDirectory(t, {
    'openapi.yaml': `${head}paths:
  /a:
    get: { $ref: '#/x-operation' }
    put: { $ref: 'other.yaml#/operation' }
    post: { operationId: c, requestBody: ${form}, responses: { '204': { description: Done. } } }
x-operation: ${own}
x-encoding: { style: pipeDelimited, explode: false }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`,
    'other.yaml': `operation: ${own.replace('operationId: a', 'operationId: b')}\n`,
  })
  const { routes } = await compileContract('openapi.yaml')
  const of = (id: string) => routes.operations.find(({ operationId }) => operationId === id)
  t.same(of('a')?.security, [{ token: [] }])
  t.same(of('b')?.security, [{ token: [] }])
  t.match(of('c'), { forms: { 'application/x-www-form-urlencoded': { fields: [{ style: 'pipeDelimited' }] } } })
  writeFileSync('openapi.yaml', `${head}paths: { /a: { get: { $ref: '#/paths/~1a/get' } } }\n`)
  await t.rejects(compileContract('openapi.yaml'), { message: /#\/paths\/~1a\/get/ })
})
