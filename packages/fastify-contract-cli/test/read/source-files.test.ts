import { readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import t from 'tap'
import { run as changes } from '../../src/cli/changes.ts'
import { run as docs } from '../../src/cli/docs.ts'
import { run as generate } from '../../src/cli/generate.ts'
import { run } from '../../src/cli/init.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { compileContract } from '../../src/emit/compile.ts'
import { sourceLimits } from '../../src/read/document-files.ts'
import { readSources } from '../../src/read/source-files.ts'
import { bundle, lint as findingsOf } from '../../src/redocly/redocly.ts'
import { head, pathsWith } from '../support/document-with-schema.ts'
import { enterDirectory } from '../support/enter-directory.ts'

/** Runs init without the documentation, which takes seconds. */
const init = (args: string[]) => run(['--without', 'docs', ...args])

const namesIn = async (path: string) => [...(await readSources(path)).files.keys()].map((file) => relative('', file))

t.test('the files of a document are those of its references, however they are written', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': `${head}paths:
  /a: { $ref: "paths/a%20b.yaml#/~1a%7Bid%7D" }
components:
  schemas:
    Folded:
      $ref: >-
        schemas/folded.yaml
    Continued:
      $ref: "schemas/\\
        continued.yaml"
    Spaced: { $ref: schemas/with space.yaml }
    Animal:
      type: object
      discriminator: { propertyName: kind, mapping: { dog: ./schemas/dog.yaml, cat: cat.yaml, Folded: Folded } }
`,
    paths: {
      'a b.yaml': `/a{id}:
  get:
    operationId: getA
    parameters: [{ name: id, in: query, schema: { type: string } }]
    responses:
      '200':
        description: A
        content:
          application/json:
            schema: { $ref: '../openapi.yaml#/components/schemas/Spaced' }
            examples: { one: { externalValue: ../examples/one.json } }
`,
    },
    schemas: {
      'folded.yaml': 'type: string',
      'continued.yaml': 'type: string',
      'with space.yaml': 'type: object\nproperties: { next: { $ref: with%20space.yaml } }',
      'dog.yaml': 'type: object',
    },
    'cat.yaml': 'type: object',
    examples: { 'one.json': '{ "next": { "$ref": "../secret.key" } }' },
    'secret.key': 'secret',
  })
  t.same(await namesIn('openapi.yaml'), [
    'openapi.yaml',
    'paths/a b.yaml',
    'schemas/folded.yaml',
    'schemas/continued.yaml',
    'schemas/with space.yaml',
    'schemas/dog.yaml',
    'cat.yaml',
    'examples/one.json',
  ])
  const { files } = await compileContract('openapi.yaml')
  t.notMatch(files['openapi.json'], 'secret\n')
  const { paths } = JSON.parse(files['openapi.json'] as string)
  t.same(paths['/a'].get.responses[200].content['application/json'].examples.one.value, {
    next: { $ref: '../secret.key' },
  })
})

const data = (at: string) => `${head}x-note: { $ref: '#/nowhere', list: [{ $ref: ${at}, externalValue: ${at} }] }
externalDocs: { url: ${at} }
servers: [{ url: ${at}, description: 'See $ref: ${at}' }]
paths:
  x-a: 2
  /a:
    post:
      operationId: postA
      x-extra: { $ref: ./missing.yaml }
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Group' } } } }
      responses:
        x-responses: 2
        '200':
          description: 'See $ref: ${at}'
          links: { next: { operationId: postA, parameters: { a: { $ref: ${at} } } } }
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Group' }
              examples:
                one: { value: { $ref: secret.key, type: a, members: [{ $ref: ${at} }] } }
                far: { externalValue: ${at} }
                gone: { externalValue: gone.json }
                image: { externalValue: image.png }
                broken: { externalValue: broken.json }
components:
  schemas:
    Group:
      $id: ${at}
      $schema: https://json-schema.org/draft/2020-12/schema
      type: object
      required: [$ref, type]
      properties:
        $ref: { type: string }
        type: { type: string }
        members: { type: array, items: { type: object } }
        preset: { type: object, default: { $ref: ${at} } }
        choice: { enum: [{ $ref: ${at} }, a] }
        fixed: { const: { $ref: '#/components/schemas/Group' } }
      example: { $ref: '#/components/schemas/Group', type: c }
`

t.test('no command fetches or reads what data names, and data is published as it is', async (t) => {
  let connections = 0
  const server = createServer((_request, response) => response.end('{}')).on('connection', () => connections++)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  const directory = enterDirectory(t, { 'openapi.yaml': data(at), 'broken.json': '{', 'secret.key': 'a secret' })
  writeFileSync('image.png', Buffer.from([0x89, 0x50, 0, 0xff]))
  const printed = t.capture(console, 'log')
  const lines = () => printed().flatMap(({ args }) => String(args[0]).split('\n'))
  await generate(['openapi.yaml'])
  await changes(['openapi.yaml', '--release'])
  await docs(['openapi.yaml', '--out', 'pages'])
  lines()
  await lint(['openapi.yaml'])
  t.notMatch(lines().join('\n'), /example|struct|unresolved/, 'a member that is data is there for the rules')
  writeFileSync(
    'openapi.yaml',
    data(at).replace('version: 1.0.0', 'version: 1.0.1').replace('type: c', 'type: d').replace('See', 'Look'),
  )
  await changes(['openapi.yaml'])
  t.match(lines(), /^openapi\.yaml:\d+:\d+ text: modified /)
  await init(['openapi.yaml', 'new'])
  t.notOk(readdirSync('new', { recursive: true }).some((name) => String(name).includes('secret')))
  const published = readFileSync(join('new', 'generated', 'openapi.json'), 'utf8')
  const { paths, components, ...document } = JSON.parse(published)
  t.same(document['x-note'], { $ref: '#/nowhere', list: [{ $ref: at, externalValue: at }] })
  const { examples } = paths['/a'].post.responses[200].content['application/json']
  t.same(examples, {
    one: { value: { $ref: 'secret.key', type: 'a', members: [{ $ref: at }] } },
    far: { externalValue: at },
    gone: { externalValue: 'gone.json' },
    image: { externalValue: 'image.png' },
    broken: { externalValue: 'broken.json' },
  })
  t.same(components.schemas.Group.example, { $ref: '#/components/schemas/Group', type: 'd' })
  t.same(components.schemas.Group.properties.preset.default, { $ref: at })
  t.match(readFileSync(join(directory, 'pages', 'index.html'), 'utf8'), '{"$ref":"secret.key","type":"a"')
  // Redocly would follow the references in the content of a data URL.
  const urls = [at, at.replace('http:', ''), at.replace('http', 'HTTP'), `data:application/json,{"$ref":"${at}"}`]
  for (const reference of urls) {
    const places = [
      pathsWith(`{ $ref: '${reference}' }`),
      pathsWith(`{ oneOf: [{ type: object }], discriminator: { propertyName: a, mapping: { b: '${reference}' } } }`),
      pathsWith('{}', `, default: { $ref: '${reference}#/responses/a' }`),
      `${head}paths: { $ref: '${reference}' }`,
    ]
    for (const text of places) {
      writeFileSync('remote.yaml', text)
      const refusal = 'is a URL, and nothing is fetched; download it beside the document'
      const isFirst = reference === at
      for (const command of isFirst ? [generate, docs, changes] : [generate]) {
        const { message } = await command(['remote.yaml']).then(
          () => new Error('taken'),
          (error: Error) => error,
        )
        t.match(message, /remote\.yaml:\d+:\d+/)
        t.match(message, `${reference}`)
        t.match(message, refusal)
      }
      lines()
      await lint(['remote.yaml'])
      t.match(
        lines().find((line) => line.includes(refusal)),
        /^remote\.yaml:\d+:\d+ warning no-unresolved-refs: /,
      )
      if (isFirst) await t.rejects(init(['remote.yaml', 'never']), { message: /is a URL, and nothing is fetched/ })
    }
  }
  t.equal(connections, 0)
})

t.test('a document is fetched from the URL that the user names, and from no other', async (t) => {
  const requested: string[] = []
  const server = createServer(({ url = '' }, response) => {
    requested.push(url)
    if (url === '/moved') response.writeHead(302, { Location: '/api.yaml' }).end()
    else if (url === '/api.yaml') response.end(pathsWith('{ type: object }'))
    else if (url === '/parts.yaml') response.end(pathsWith("{ $ref: 'part.yaml' }"))
    else response.writeHead(404).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = `http://127.0.0.1:${port}`
  enterDirectory(t, {})
  t.capture(console, 'log')
  await generate([`${at}/api.yaml`])
  t.same(requested.splice(0), ['/api.yaml'])
  await generate([`${at}/moved`])
  t.same(requested.splice(0), ['/moved', '/api.yaml'])
  await t.rejects(generate([`${at}/none`]), {
    message: `${at}/none: responds with 404; name the URL of an OpenAPI document`,
  })
  await t.rejects(generate([`${at}/parts.yaml`]), {
    message: `${at}/parts.yaml:7:85: refers to ${at}/part.yaml: responds with 404; name the URL of an OpenAPI document`,
  })
  t.same(requested, ['/none', '/parts.yaml', '/part.yaml'])
  server.close()
  server.closeAllConnections()
  await t.rejects(generate([`${at}/api.yaml`]), { message: /: cannot be fetched \(.*\); check the URL$/ })
})

t.test('init copies files below the directory of the document, others only if the user allows it', async (t) => {
  const directory = enterDirectory(t, {
    spec: {
      'in.yaml': pathsWith("{ $ref: 'parts/b.yaml' }"),
      'up.yaml': pathsWith("{ $ref: '../secret.yaml' }"),
      'missing.yaml': pathsWith("{ $ref: '../none.yaml' }"),
      'encoded.yaml': pathsWith("{ $ref: '%2e%2e/secret.yaml' }"),
      'link.yaml': pathsWith("{ $ref: 'linked.yaml' }"),
      'example.yaml': pathsWith(
        '{}',
        ", '200': { description: A, content: { a/b: { examples: { a: { externalValue: ../secret.yaml } } } } }",
      ),
      'mapping.yaml': pathsWith('{ type: object, discriminator: { propertyName: a, mapping: { b: ../secret.yaml } } }'),
      parts: { 'b.yaml': 'type: object' },
    },
    'secret.yaml': 'type: string',
  })
  symlinkSync(join(directory, 'secret.yaml'), join(directory, 'spec', 'linked.yaml'))
  writeFileSync(join('spec', 'url.yaml'), pathsWith(`{ $ref: 'file://${directory}/secret.yaml' }`))
  writeFileSync(join('spec', 'root.yaml'), pathsWith('{ $ref: /etc/hostname }'))
  t.capture(console, 'log')
  for (const name of ['up', 'missing', 'encoded', 'link', 'example', 'mapping', 'url', 'root'])
    await t.rejects(
      init([join('spec', `${name}.yaml`), 'new']),
      { message: /^spec\/\w+\.yaml:\d+:\d+: refers to \/\S+, which is outside of spec; .* --include-outside$/ },
      name,
    )
  await init([join('spec', 'in.yaml'), 'new'])
  await init([join('spec', 'link.yaml'), 'other', '--include-outside'])
  // The root directory may be all that two files have in common.
  const far = t.testdirName.startsWith('/tmp') ? '/var/tmp' : '/tmp'
  const file = join(far, `far-${process.pid}.yaml`)
  writeFileSync(file, 'type: object')
  t.teardown(() => rmSync(file))
  writeFileSync(join('spec', 'far.yaml'), pathsWith(`{ $ref: '${file}' }`))
  await init([join('spec', 'far.yaml'), 'third', '--include-outside'])
  t.same(readFileSync(join('third', 'openapi', file), 'utf8'), 'type: object')
})

t.test('init runs a plugin of redocly.yaml only if the user names that file', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': pathsWith('{ type: object }'),
    'redocly.yaml': 'plugins: [./plugin.cjs]\n',
    'plugin.cjs': "require('node:fs').writeFileSync('ran', '')\nmodule.exports = () => ({ id: 'plugin' })\n",
    'api.json': '{ "openapi": "3.1.0", "info": { "title": "A", "version": "1.0.0" }, "paths": {} }',
  })
  const printed = t.capture(console, 'log')
  await init(['openapi.yaml', 'new'])
  await init(['api.json', 'other'])
  t.notMatch(printed()[0]?.args[0], 'did not read', 'that of another directory does not matter')
  await init(['openapi.yaml'])
  t.match(printed()[0]?.args[0], 'init did not read redocly.yaml, since its plugins are code; npm run generate')
  t.notOk(readdirSync('.').includes('ran'))
  await init(['openapi.yaml', 'third', '--rules', 'redocly.yaml'])
  t.ok(readdirSync('.').includes('ran'))
})

t.test('a file that cannot be read is named in one line', async (t) => {
  enterDirectory(t, {
    'twice.yaml': `${head}paths: {}\npaths: {}\n`,
    'number.yaml': `${head}paths: { 404: {}, '404': {} }\n`,
    'twice.json': '{ "openapi": "3.1.0", "x-a": { "$ref": "#/a" }, "paths": {}, "paths": {} }',
    'open.yaml': 'openapi: [',
    'cycle.yaml': `${head}x-a: &a [*a]\n`,
    'alias.yaml': `${head}x-a: [&a 1, *b]\n`,
    'merge.yaml': `${head}x-a:\n  <<: 3\n`,
    'tab.yaml': 'openapi:\n\t3',
    'bomb.yaml': `${head}x-0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n${Array.from({ length: 9 }, (_, i) => `x-${i + 1}: &a${i + 1} [${Array.from({ length: 8 }, () => `*a${i}`).join()}]\n`).join('')}`,
    'deep.yaml': `x: ${'['.repeat(50_000)}`,
    'big.yaml': '',
    'deep.json': `{ "openapi": "3.1.0", "x": ${'['.repeat(50_000)}${']'.repeat(50_000)} }`,
    'list.yaml': '- openapi: 3.1.0\n',
    'empty.yaml': '',
    'device.yaml': pathsWith("{ $ref: 'file:///dev/zero' }"),
    'parts.yaml': pathsWith("{ $ref: 'open.yaml' }"),
    folder: {},
  })
  truncateSync('big.yaml', sourceLimits.bytes + 1)
  writeFileSync('bytes.yaml', Buffer.from([0xff, 0xfe, 0x00]))
  const cases: [name: string, message: RegExp][] = [
    ['twice.yaml', /^twice\.yaml:4:1: duplicate key "paths"; remove one of them$/],
    ['number.yaml', /^number\.yaml:3:19: duplicate key "404"; remove one of them$/],
    ['twice.json', /^twice\.json:1:\d+: duplicate key "paths"; remove one of them$/],
    ['open.yaml', /^open\.yaml:\d+:\d+: .*; correct it$/],
    ['cycle.yaml', /^cycle\.yaml: .*; correct the alias$/],
    ['alias.yaml', /^alias\.yaml:3:13: Unresolved alias .*: b; correct it$/],
    ['merge.yaml', /^merge\.yaml:4:3: Merge sources must be maps or map aliases; correct it$/],
    ['tab.yaml', /^tab\.yaml:2:1: Tabs are not allowed as indentation; use spaces$/],
    ['bomb.yaml', /^bomb\.yaml: its aliases stand for more than 5000000 values; write fewer$/],
    ['deep.yaml', /^deep\.yaml: values are nested too deeply; flatten them$/],
    ['deep.json', /^deep\.json: values are nested too deeply; flatten them$/],
    ['list.yaml', /^list\.yaml: is no object of JSON or YAML; name an OpenAPI document$/],
    ['empty.yaml', /^empty\.yaml: is no object of JSON or YAML; name an OpenAPI document$/],
    ['big.yaml', /^big\.yaml: the document has more than 67108864 bytes; split it$/],
    ['bytes.yaml', /^bytes\.yaml: is not text in UTF-8; convert it$/],
    ['folder', /^folder is a directory; name a file$/],
    ['none.yaml', /^none\.yaml does not exist; name an OpenAPI document$/],
  ]
  for (const [name, message] of cases) await t.rejects(readSources(name), { message }, name)
  if (process.platform !== 'linux') return
  await t.rejects(bundle('/dev/null'), { message: /^\/?\S+ is a device; name a file$/ })
  await t.rejects(compileContract('device.yaml'), { message: /does not resolve \(\S+ is a device; name a file\)/ })
  await t.rejects(compileContract('parts.yaml'), { message: /does not resolve \(open\.yaml:\d+:\d+: .*correct it\)/ })
})

t.test('merge keys are those of YAML 1.1, and explicit keys win', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': `${head}x-errors: &errors
  400: { description: Bad, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }
  404: { description: Gone }
paths:
  /a:
    get:
      operationId: getA
      responses:
        <<: *errors
        204: { description: Done }
        404: { description: Mine }
        bad: 1
components: { schemas: { A: { type: object } } }
`,
  })
  const { paths } = (await bundle('openapi.yaml')) as { paths: Record<string, { get: { responses: object } }> }
  t.match(paths['/a']?.get.responses, { 204: {}, 400: { description: 'Bad' }, 404: { description: 'Mine' } })
  const message = /\n {2}#\/paths\/~1a\/get\/responses\/bad: .* \(openapi\.yaml:14:14\)\n/
  await t.rejects(compileContract('openapi.yaml'), { message }, 'places are those of the file')
})

t.test('places are shown in documents of several megabytes', async (t) => {
  const operation = '{ "get": { "operationId": "getA", "responses": { "bad": 1 } } }'
  const document = `{ "openapi": "3.1.0", "info": { "title": "A", "version": "1" }, "paths": {\n"/a": ${operation} } }`
  enterDirectory(t, { 'openapi.json': `${document}${' '.repeat(5_000_000)}` })
  const message = /\n {2}#\/paths\/~1a\/get\/responses\/bad: .* \(openapi\.json:2:\d+\)\n/
  await t.rejects(compileContract('openapi.json'), { message })
})

t.test('YAML is read as js-yaml reads it', async (t) => {
  enterDirectory(t, {})
  const cases: [title: string, text: string, value: unknown][] = [
    [
      'a key without quotes over a merged one',
      'x: &e { "404": a, 400: b }\nx-y:\n  <<: *e\n  404: c\n',
      { 400: 'b', 404: 'c' },
    ],
    ['a merge key after the key', 'x: &e { 404: a }\nx-y:\n  "404": c\n  <<: *e\n', { 404: 'c' }],
    [
      'the first of two merged maps',
      'x: &a { 1: a }\nz: &b { "1": b, c: b }\nx-y: { <<: [*a, *b] }',
      { 1: 'a', c: 'b' },
    ],
    ['a byte order mark', '\uFEFFx-y: 1', 1],
    ['CRLF', 'x-y: |\r\n  a\r\n  b\r\nz: "c\r\n  d"\r\n', 'a\nb\n'],
    ['CR alone', 'x-y: 1\rz: 2', 1],
    ['brackets at the column of their key', 'x-y: [\n  1\n]\n', [1]],
    ['tabs between words', 'x-y:\t[ 1,\t2 ]\t# a', [1, 2]],
    ['words of YAML 1.1', 'x-y: [yes, off, 0o14, 1_000, 2001-01-01]', ['yes', 'off', 12, '1_000', '2001-01-01']],
    ['a date of YAML 1.1', '%YAML 1.1\n---\nx-y: 2001-01-01', '2001-01-01'],
    ['tags', 'x-y: [!!str 3, !!binary aGk=, !a b]', ['3', 'aGk=', 'b']],
  ]
  for (const [title, text, value] of cases) {
    writeFileSync('a.yaml', text)
    const [source] = (await readSources('a.yaml')).files.values()
    t.same(Object(source?.value)['x-y'], value, title)
  }
})

t.test('YAML that only the parser of the linter rejects is served, with its places', async (t) => {
  enterDirectory(t, { 'openapi.yaml': `${head}paths: {\n}\ntags: [\n  { name: a },\n  { name: a, odd: 1 }\n]\n` })
  t.match(await bundle('openapi.yaml'), { tags: [{ name: 'a' }, { name: 'a' }] })
  const findings = await findingsOf('openapi.yaml')
  t.match(
    findings.filter(({ ruleId }) => ruleId === 'struct').map(({ location: [at] }) => at?.start),
    [{ line: 7, col: 14 }],
  )
})

t.test('a schema is found by its $id and its $anchor, and the published document has neither', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': `${pathsWith("{ $ref: 'https://example.invalid/schemas/message' }")}
components:
  schemas:
    Message: { $ref: schemas/message.json }
    Named: { $id: named, $defs: { n: { type: integer } }, properties: { n: { $ref: '#/$defs/n' }, self: { $ref: '#' } } }
    User: { properties: { a: { $ref: named }, b: { $ref: '#here' }, c: { $ref: 'schemas/message.json#there' } } }
    Anchored: { $anchor: here, type: string }
`,
    schemas: {
      'message.json': JSON.stringify({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'https://example.invalid/schemas/message',
        properties: { size: { $ref: '#/$defs/size' }, inner: { $ref: '#' }, other: { $ref: 'message#there' } },
        $defs: { size: { type: 'integer' }, there: { $anchor: 'there', type: 'boolean' } },
      }),
    },
  })
  const { files } = await compileContract('openapi.yaml')
  const text = files['openapi.json'] as string
  t.notMatch(text, /"\$(?:id|anchor|schema)"|example\.invalid/)
  const { components } = JSON.parse(text)
  const schema = '#/components/schemas/'
  t.match(components.schemas.Named.properties, {
    n: { $ref: `${schema}Named/%24defs/n` },
    self: { $ref: `${schema}Named` },
  })
  t.match(components.schemas.User.properties, { a: { $ref: `${schema}Named` }, b: { $ref: `${schema}Anchored` } })
})

t.test('the name of a document is no pattern of other files', async (t) => {
  const document = pathsWith('{ type: string }')
  const names = ['a*.yaml', 'a?.yaml', '!(b).yaml', '[ab] {x}.yaml', '@(a|b)+.yaml']
  const others = { 'ab.yaml': 'openapi: 1', 'a.yaml': 'openapi: 1', 'b {x}.yaml': 'openapi: 1' }
  enterDirectory(t, { ...others, ...Object.fromEntries(names.map((name) => [name, document])) })
  for (const name of names) t.match(await bundle(name), { paths: { '/a': {} } }, name)
})

t.test('a version that is no string is published as it is, and the linter names its place', async (t) => {
  const document = pathsWith('{ type: string }')
  const versions: [name: string, version: string, value: unknown, message: string][] = [
    ['a.yaml', '3.1', 3.1, "openapi must be a string, not 3.1; quote it: '3.1.0'"],
    ['b.yaml', '3', 3, "openapi must be a string, not 3; quote it: '3.0.0'"],
    ['c.yaml', '[a]', ['a'], 'openapi must be a string, not ["a"]'],
  ]
  const files = versions.map(([name, version]) => [name, document.replace('3.1.0', version)])
  enterDirectory(t, { ...Object.fromEntries(files), 'all.yaml': 'decorators: { info-override: { title: B } }' })
  for (const [name, , value, message] of versions) {
    for (const rules of [undefined, 'all.yaml'])
      t.match(await bundle(name, rules), { openapi: value, paths: { '/a': {} } })
    t.match((await bundle(name, 'all.yaml')).info, { title: 'B' })
    t.match(await findingsOf(name), [{ message, location: [{ source: { ref: name }, start: { line: 1, col: 10 } }] }])
  }
})
