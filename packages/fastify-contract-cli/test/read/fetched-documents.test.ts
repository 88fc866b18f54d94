import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run as runProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { run as changes } from '../../src/cli/changes.ts'
import { run as generate } from '../../src/cli/generate.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { copyPaths } from '../../src/read/copy-paths.ts'
import { fetchDocument } from '../../src/read/read-document.ts'
import { head, pathsWith } from '../support/document-with-schema.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { ownPath } from '../support/own-path.ts'
import { redirect, startPages } from '../support/url-server.ts'

/** Returns the files of a document as a project has them. */
async function saved(url: string, options = {}, document?: string): Promise<Record<string, string>> {
  const { directory, paths } = await fetchDocument(url, options, document)
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}

t.test('the files of a document are saved as they are, in the directories of their URLs', async (t) => {
  const pages = {
    '/v1/spec/api.yaml': pathsWith("{ $ref: '../common/pet.yaml' }"),
    '/v1/common/pet.yaml':
      "type: object\nproperties: { tag: { $ref: 'tag.json#/tag' }, owner: { $ref: './pet.yaml' } }",
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
  const document = `\uFEFF${head}paths:
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
`
  const { at, pages, asked } = await startPages(t, {
    '/schemas/path%20item?part=1':
      '{ "get": { "operationId": "getA", "responses": { "204": { "description": "A" } } } }',
    '/deep/item': "get: { operationId: getB, responses: { '200': { description: { $ref: ./text.md } } } }",
    '/deep/text.md': '# Text',
    '/schemas/types?name=a': 'type: string',
    '/schemas/types?name=b': "b: { $ref: '?name=a' }",
    '/schemas/..%2f..%2fetc/passwd%00': 'type: integer',
    '/etc/passwd': 'type: number',
    '/schemas/con.yaml': 'type: boolean',
    '/SCHEMAS/TYPES.JSON': '{ "type": "array" }',
    '/schemas/types.json': '{ "type": "object" }',
    '/schemas/types.json/inner.yaml': 'type: object',
  })
  pages['/api'] = document.replace('ORIGIN', at)
  enterDirectory(t, {})
  const files = await saved(`${at}/api`)
  t.equal(asked.length, 12, 'each file is fetched once')
  t.same(files, {
    'openapi/api.yaml': `\uFEFF${head}paths:
  /a:
    $ref: "./schemas/path-item.json"
  /b: { $ref: "./deep/item.yaml" }
components:
  schemas:
    A: { $ref: &long "./schemas/types.yaml" }
    B: { $ref: "./schemas/types-2.yaml#/b" }
    C: { $ref: "./schemas/types.yaml" }
    D: { $ref: "./schemas/etc/passwd-.yaml" }
    E: { $ref: "./etc/passwd.yaml" }
    F: { $ref: "./schemas/types.yaml" }
    G: { $ref: "./schemas/_con.yaml" }
    H: { $ref: SCHEMAS/TYPES.JSON }
    I: { $ref: "./schemas/types-2.json" }
    J: { $ref: "./schemas/types-json/inner-2.yaml" }
    K:
      type: object
      discriminator: { propertyName: kind, mapping: { a: "./schemas/types.yaml", b: B, c: c } }
`,
    'openapi/schemas/path-item.json': pages['/schemas/path%20item?part=1'],
    'openapi/deep/item.yaml': pages['/deep/item']?.toString().replace('./text.md', '"./text.md.txt"'),
    'openapi/schemas/types.yaml': 'type: string',
    'openapi/schemas/types-2.yaml': 'b: { $ref: "./types.yaml" }',
    'openapi/schemas/etc/passwd-.yaml': 'type: integer',
    'openapi/etc/passwd.yaml': 'type: number',
    'openapi/schemas/_con.yaml': 'type: boolean',
    'openapi/SCHEMAS/TYPES.JSON': '{ "type": "array" }',
    'openapi/schemas/types-2.json': '{ "type": "object" }',
    'openapi/schemas/types-json/inner-2.yaml': 'type: object',
    'openapi/deep/text.md.txt': '# Text',
  })
})

t.test('a reference that no file of the document has never reaches a file of this machine', async (t) => {
  const directory = enterDirectory(t, { 'secret.yaml': 'type: string' })
  const up = `../../../../../../../../..${directory}/secret.yaml`
  const { at, pages } = await startPages(t, {})
  const compiled = async (text: string) => {
    pages['/api.yaml'] = text
    return await compileContract(`${at}/api.yaml`).then(
      ({ files }) => files['openapi.json'] as string,
      ({ message }: Error) => message,
    )
  }
  const place = new RegExp(`^${at}/api\\.yaml:\\d+:\\d+: refers to `)
  for (const reference of [up, `${directory}/secret.yaml`, `file://${directory}/secret.yaml`, `//127.0.0.9${up}`]) {
    const message = await compiled(pathsWith(`{ $ref: '${reference}' }`))
    t.match(message, place)
    t.match(message, /responds with 404|is not a URL of HTTPS|is of another origin/)
    const mapping = `{ type: object, discriminator: { propertyName: a, mapping: { b: '${reference}' } } }`
    t.match(await compiled(pathsWith(mapping)), place)
  }
  // An example is optional: the document keeps its URL, which is never fetched.
  const withExample = (uri: string) =>
    pathsWith('{}', `, '200': { description: A, content: { a/b: { examples: { one: { externalValue: '${uri}' } } } } }`)
  t.match(await compiled(withExample(up)), `"externalValue": "${at}${directory}/secret.yaml"`)
  t.match(await compiled(withExample('https://example.com/a')), '"externalValue": "https://example.com/a"')
  t.match(await compiled(withExample(`file://${directory}/secret.yaml`)), place)
  // A schema with that URI is found by it, though a file of this machine has the path.
  const identified = pathsWith(
    `{ $id: 'https://example.com/', $defs: { a: { $id: '${directory}/secret.yaml', type: integer } }, $ref: '${up}' }`,
  )
  const text = await compiled(identified)
  t.match(text, /"type": "integer"/)
  const { 'openapi/api.yaml': copy } = await saved(`${at}/api.yaml`)
  t.match(copy, `$ref: "https://example.com${directory}/secret.yaml"`)
  t.match(
    await compiled(pathsWith('{ $ref: Pet }')),
    /Pet does not resolve \(no schema has this name; begin a relative/,
  )
  t.match(await compiled(pathsWith("{ $ref: 'http://[' }")), /http:\/\/\[ is a URL, and nothing is fetched/)
})

t.test('references may lead in circles, and to another origin that the user allows', async (t) => {
  const other = await startPages(t, { '/b.yaml': 'type: object', '/api.yaml': 'type: string' })
  const { at, port, pages } = await startPages(t, {
    '/api.yaml': pathsWith("{ $ref: './a.yaml' }"),
    '/moved/api.yaml': redirect('/moved/twice/api.yaml'),
    '/moved/twice/api.yaml': pathsWith("{ $ref: '../part' }"),
    '/moved/part': redirect('/parts/part'),
    '/parts/part': "properties: { other: { $ref: 'other.yaml' } }",
    '/parts/other.yaml': 'type: string',
  })
  pages['/a.yaml'] =
    `properties: { b: { $ref: '${other.at}/b.yaml' }, a: { $ref: './api.yaml#/x' } }\nx: { type: string }`
  pages['/api.yaml'] = `${pathsWith("{ $ref: './a.yaml' }")}x: { $ref: './a.yaml' }\n`
  enterDirectory(t, {})
  await t.rejects(saved(`${at}/api.yaml`), {
    message: `${at}/a.yaml:1:26: refers to ${other.at}/b.yaml: is of another origin than the document; allow it with --allow-origin ${other.at} of init or generate, or download the files`,
  })
  t.same(other.asked, [])
  const host = `127.0.0.1-${port}`
  const otherHost = `127.0.0.1-${other.port}`
  const files = await saved(`${at}/api.yaml`, { allowedOrigins: [other.at] })
  t.same(Object.keys(files), [`openapi/${host}/api.yaml`, `openapi/${host}/a.yaml`, `openapi/${otherHost}/b.yaml`])
  t.match(files[`openapi/${host}/a.yaml`], `b: { $ref: "../${otherHost}/b.yaml" }, a: { $ref: './api.yaml#/x' }`)
  t.same(
    await saved(`${at}/moved/api.yaml`),
    {
      'openapi/moved/twice/api.yaml': pages['/moved/twice/api.yaml']?.toString().replace("'../part'", '"../part.yaml"'),
      'openapi/moved/part.yaml': 'properties: { other: { $ref: "../parts/other.yaml" } }',
      'openapi/parts/other.yaml': 'type: string',
    },
    'references are relative to the last URL',
  )
  pages['/a.yaml'] = 'type: ['
  await t.rejects(saved(`${at}/api.yaml`), { message: /^http:\S+\/a\.yaml:1:8: / })
  pages['/api.yaml'] = pathsWith("{ $ref: './1' }")
  for (let each = 1; each < 9; each++) pages[`/${each}`] = `properties: { next: { $ref: './${each + 1}' } }`
  await t.rejects(saved(`${at}/api.yaml`, { limits: { files: 5 } }), {
    message: /\/4:1:\d+: refers to \S+\/5: the document has more than 5 files; bundle it first$/,
  })
  pages['/api.yaml'] = '[]'
  await t.rejects(saved(`${at}/api.yaml`), {
    message: `${at}/api.yaml: is no object of JSON or YAML; name an OpenAPI document`,
  })
})

t.test('a document that is saved already keeps its path, and new files have places beside it', async (t) => {
  const paths = (urls: string[], document?: string) =>
    Array.from(
      copyPaths(
        urls.map((url) => ({ url, extension: '.yaml' })),
        document,
      ).values(),
    )
  const root = 'https://a.example/v1/spec/api.yaml'
  const [below, beside, above] = ['spec/b.yaml', 'c.yaml', '../d.yaml'].map((path) => `https://a.example/v1/${path}`)
  const all = [root, below, beside].map(String)
  t.same(paths(all), ['openapi/spec/api.yaml', 'openapi/spec/b.yaml', 'openapi/c.yaml'])
  t.same(paths(all, 'openapi/spec/api.yaml'), paths(all))
  t.same(paths([...all, String(above)], 'openapi/spec/api.yaml').at(-1), 'openapi/a.example/d.yaml')
  t.same(paths([root, String(beside)], 'my.yaml'), ['my.yaml', 'openapi/a.example/v1/c.yaml'])
  t.same(paths([root, String(below)], 'my/own.yaml'), ['my/own.yaml', 'my/b.yaml'])
  t.same(paths(['https://a.example/', 'https://a.example/dist/%E0%A4%A', 'https://a.example/~/x.yaml.']), [
    'openapi/openapi.yaml',
    'openapi/_dist/E0-A4-A.yaml',
    'openapi/_/x.yaml',
  ])
  t.same(
    paths(
      [root, ...['redocly.yaml', 'released/9.0.0.json', '.env'].map((name) => new URL(name, root).href)],
      'my.yaml',
    ),
    ['my.yaml', 'openapi/redocly.yaml', 'openapi/_released/9.0.0.json', 'openapi/env.yaml'],
    'no name has an effect in the project',
  )
  const texts = ['a.test.ts', 'AGENTS.md', 'b.CSV'].map((name) => {
    return { url: `https://a.example/x/${name}`, extension: '.txt' as const }
  })
  t.same([...copyPaths(texts).values()], ['openapi/a.test.ts.txt', 'openapi/AGENTS.md.txt', 'openapi/b.CSV'])
  const long = paths(['https://a.example/a', `https://a.example/${'b/'.repeat(100)}${'c'.repeat(1000)}`])
  t.ok((long[1] as string).length < 150)
})

t.test('a signal leaves no copies of a fetched document behind', async (t) => {
  const { at } = await startPages(t, { '/api.yaml': pathsWith('{ type: object }') })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const waiting = runProcess(t, ownPath('test/read/fetch-and-wait.ts'), { DOCUMENT: `${at}/api.yaml` })
    const [, directory = ''] = await waiting.find('stdout', /^copies in (.*);$/m)
    t.ok(existsSync(directory))
    t.match(await waiting.stop(signal), { code: null, signal })
    t.notOk(existsSync(directory), signal)
  }
})

t.test('commands name the URL of a document, not its copy', async (t) => {
  const { at, asked } = await startPages(t, {
    '/api.yaml': pathsWith("{ $ref: './part.yaml' }").replace('POST', 'post'),
    '/part.yaml': 'type: object\nproperties: { a: { type: text } }',
    '/good.yaml': pathsWith('{ type: object }'),
  })
  const directory = enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  t.capture(console, 'warn')
  const lines = () =>
    printed()
      .flatMap(({ args }) => args)
      .join('\n')
  const error = await generate([`${at}/api.yaml`]).catch(({ message }) => message)
  t.match(error, `${at}/api.yaml cannot be served as written:\n`)
  t.match(error, `(${at}/part.yaml:2:`)
  await lint([`${at}/api.yaml`])
  t.match(lines(), new RegExp(`^${at}/api\\.yaml:\\d+:\\d+ warning `, 'm'))
  await generate([`${at}/good.yaml`])
  mkdirSync('released')
  await changes([`${at}/good.yaml`, '--released', 'released', '--release'])
  t.same(readdirSync('.'), ['generated', 'released'])
  t.match(readFileSync('generated/contract.mjs', 'utf8'), 'from good.yaml; edit')
  t.ok(asked.length > 0)
  t.notMatch(lines() + error, /fastify-contract-\w{6}/)
  t.equal(relative('', directory), '')
})
