import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import cliManifest from '../../package.json' with { type: 'json' }
import { run as init } from '../../src/cli/init.ts'
import { run as lint } from '../../src/cli/lint.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { checkedErrorBody } from '../../src/init/checked-error-body.ts'
import { deriveErrorBody, describedErrorBody } from '../../src/init/error-body.ts'
import { npmSettings } from '../../src/init/package-manager.ts'
import { packageName } from '../../src/init/package-name.ts'
import { runtimeFor } from '../../src/init/runtime.ts'
import { enterDirectory } from '../support/enter-directory.ts'

/** Runs init without the documentation, which takes seconds. */
const run = (args: string[]) => init(['--without', 'docs', ...args])

const pet = 'type: object\nproperties: { id: { type: integer, format: int64, example: 7 } }\n'
const document = `openapi: 3.1.0
info: { title: Pet Store!, version: 1.0.0 }
paths:
  /pets/{id}:
    get:
      operationId: getPet
      security: [{ bearer: [] }, { key: [], basic: [] }, { digest: [] }]
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200':
          description: A pet.
          content: { application/json: { schema: { $ref: '../common/pet.yaml' } } }
        default:
          description: An error.
          content: { application/json: { schema: { required: [shard], properties: { shard: { type: integer } } } } }
    trace: { operationId: tracePet, responses: { '204': { description: Traced. } } }
components:
  securitySchemes:
    bearer: { type: http, scheme: bearer }
    key: { type: apiKey, in: query, name: 'a key' }
    basic: { type: http, scheme: basic }
    digest: { type: http, scheme: digest }
`

const documentOf = (paths: object) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'a', version: '1.0.0' }, paths })

t.test('init copies a document of several files, skips what is unsupported, and says what is missing', async (t) => {
  const directory = t.testdir({ spec: { 'pets.yaml': document }, common: { 'pet.yaml': pet } })
  const printed = t.capture(console, 'log')
  const project = join(directory, 'new', 'project')
  await run([join(directory, 'spec/pets.yaml'), project, '--include-outside'])
  const summary = printed()
    .flatMap(({ args }) => args)
    .join('\n')
  t.match(summary, /: openapi\/ \(2 files\), package\.json, .*, src\/ \(3 files\), .*, generated\/ \(\d+ files\)\n/)
  t.match(summary, /^1 of 1 operations respond as the document describes them\.$/m)
  t.match(
    summary,
    /^Not counted: 1 that cannot be served .*\n {2}#\/paths\S+\/trace: .*\ngenerated\/skipped-operations\.json lists them/m,
  )
  t.match(
    summary,
    /^Errors are plain text.*\n {2}.*default: member shard \(integer\) has no known meaning.*\nWrite src\/error-body\.ts, /m,
  )
  t.match(summary, /\nNext:\n {2}cd .*project\n {2}npm install\n {2}npm start$/)
  const read = (name: string) => readFileSync(join(project, name), 'utf8')
  t.equal(read('openapi/common/pet.yaml'), pet)
  const manifest = JSON.parse(read('package.json'))
  const { name, scripts, overrides, allowScripts, engines, dependencies, devDependencies } = manifest
  t.equal(name, 'pet-store')
  const { command, node, types } = runtimeFor(process.versions.node)
  t.same([scripts.start, engines.node], [`${command} src/server.ts`, node])
  t.equal(devDependencies['@types/node'], types)
  t.equal(Object.hasOwn(dependencies, 'tsx'), command === 'tsx')
  t.match(read('README.md'), `replace \`${command}\` by \`${command === 'tsx' ? 'node' : 'tsx'}\``)
  t.same({ overrides, allowScripts }, npmSettings)
  t.match(read('README.md'), '[fastify-contract](node_modules/fastify-contract/README.md)')
  t.equal(scripts.generate, 'fastify-contract generate')
  t.same(manifest['fastify-contract'], { document: 'openapi/spec/pets.yaml', skipUnsupported: true })
  t.match(
    read('src/handlers.ts'),
    / {2}\/\/ GET \/pets\/\{id\} takes path\.id\n {2}async getPet\(\): ReturnType<.*> \{\n/,
  )
  const app = read('src/app.ts')
  t.match(app, "      bearer: bearer(verifyToken),\n      key: apiKey({ in: 'query', name: 'a key' }, verifyToken),\n")
  t.match(app, '      basic: basic(tokensAsPasswords(verifyToken)),\n')
  t.match(app, /digest: \(\) => \(_request, done\) =>\s+done\(new ContractError\('notImplemented', /)
  t.match(app, "contentType: 'text/plain'")
  t.notOk(readdirSync(join(project, 'src')).includes('error-body.ts'))
})

t.test('a project for pnpm has its settings and commands, and none of npm', async (t) => {
  const directory = enterDirectory(t, { 'none.json': documentOf({}), 'pnpm-lock.yaml': '' })
  const printed = t.capture(console, 'log')
  await run(['none.json', 'new'])
  t.match(printed()[0]?.args[0], /\nNext:\n {2}cd new\n {2}pnpm install\n {2}pnpm start$/)
  const { scripts: _, 'fastify-contract': __, ...manifest } = JSON.parse(readFileSync('new/package.json', 'utf8'))
  const read = ['name', 'version', 'private', 'type', 'engines', 'dependencies', 'devDependencies']
  t.same(Object.keys(manifest), read, 'nothing else, which pnpm would ignore')
  t.match(readFileSync('new/pnpm-workspace.yaml', 'utf8'), /^allowBuilds:\n {2}esbuild: false$/m)
  const readme = readFileSync('new/README.md', 'utf8')
  t.notMatch(readme, /(?<!p)npm/)
  t.match(readme, 'pnpm install --frozen-lockfile --prod')

  // In a workspace, pnpm reads the settings of its root.
  writeFileSync('pnpm-workspace.yaml', "packages: ['*']\n")
  await run(['none.json', 'member'])
  t.notOk(existsSync('member/pnpm-workspace.yaml'))
  t.ok(
    printed()[0]?.args[0].endsWith(
      `\nBefore, add to ${directory}/pnpm-workspace.yaml, since esbuild works without its install script:\nallowBuilds: { esbuild: false }`,
    ),
  )
  writeFileSync('pnpm-workspace.yaml', "packages: ['*']\nallowBuilds: { esbuild: true }\n")
  await run(['none.json', 'other'])
  t.match(printed()[0]?.args[0], /pnpm start$/)
})

t.test('init writes nothing if a file exists, and leaves a document in the directory where it is', async (t) => {
  const directory = enterDirectory(t, { 'none.json': documentOf({}), src: { 'app.ts': 'mine' } })
  const printed = t.capture(console, 'log')
  const before = readdirSync(directory, { recursive: true }).length
  await t.rejects(run(['none.json', directory]), {
    message: /^init: nothing is written, since \S+src\/app\.ts already exists; name a new directory$/,
  })
  t.equal(readdirSync(directory, { recursive: true }).length, before)
  t.same(printed(), [])
  rmSync('src/app.ts')
  symlinkSync(join(directory, 'elsewhere'), 'src/app.ts')
  await t.rejects(run(['none.json', directory]), { message: /src\/app\.ts already exists/ }, 'a link without a target')
  t.notOk(existsSync('elsewhere'))
  await t.rejects(run(['none.yaml', directory]), { message: /^init: none\.yaml does not exist/ })
  rmSync('src/app.ts')
  await run(['none.json', directory])
  t.same(JSON.parse(readFileSync('package.json', 'utf8'))['fastify-contract'], { document: 'none.json' })
  t.match(printed()[0]?.args[0], /^The document has no operations\.$/m)
})

t.test('a reference without a target costs its operation, which init names', async (t) => {
  const directory = t.testdir({
    'pets.yaml': document.replace("'../common/pet.yaml'", "'#/components/schemas/Missing'"),
  })
  await t.rejects(run([join(directory, 'pets.yaml'), join(directory, 'new')]), {
    message:
      /\n {2}#\/paths\/~1pets~1%7Bid%7D\/get\/responses\/200\S+\/schema: #\/components\/schemas\/Missing does not resolve; correct the reference \(.*pets\.yaml:12:\d+\)\n/,
  })
  t.same(readdirSync(directory), ['pets.yaml'])
})

t.test('a finding about a value of a wrong type quotes the value', async (t) => {
  const schema = '{ type: text }, n: { type: integer, minLength: { a: 1 } }'
  const typos = document.replace("{ $ref: '../common/pet.yaml' }", `{ properties: { name: ${schema} } }`)
  const directory = t.testdir({ 'typos.yaml': typos })
  const error = await run([join(directory, 'typos.yaml'), join(directory, 'new')]).catch(({ message }) => message)
  t.match(
    error,
    /name\/type: must be one of .*, or an array of them, not "text"; correct it \(\S*typos\.yaml:\d+:\d+\)\n/,
  )
  t.match(error, /minLength: must be a number of at least 0, not \{"a":1\}; correct it \(/)
})

t.test('text of a document and its name are no code in a new project', async (t) => {
  const scheme = '{ type: http, scheme: "digest\\u2028process.exit(7)//" }'
  const directory = enterDirectory(t, {
    '$(touch X) `id`.yaml': document
      .replace("{ $ref: '../common/pet.yaml' }", '{ type: object }')
      .replace('{ type: http, scheme: digest }', scheme),
  })
  const printed = t.capture(console, 'log')
  await run(['$(touch X) `id`.yaml', "it's new"])
  t.match(printed()[0]?.args[0], "  cd 'it'\\''s new'\n")
  const read = (name: string) => readFileSync(join(directory, "it's new", name), 'utf8')
  const { scripts, 'fastify-contract': settings } = JSON.parse(read('package.json'))
  t.equal(scripts.generate, 'fastify-contract generate')
  t.equal(settings.document, '$(touch X) `id`.yaml')
  t.match(read('src/app.ts'), /\/\/ Write the verifier of "digest process\.exit\(7\)\/\/"; until then/)
  t.match(read('README.md'), '[$(touch X) \\`id\\`.yaml]'.replace('$', '\\$'))
  t.match(read('README.md'), '| ``$(touch X) `id`.yaml`` |')
  t.match(read('generated/contract.mjs'), /^\/\/ Written by .* from \$\(touch X\) `id`\.yaml; edit that instead\.\n/)
})

t.test('init counts what it would list at length', async (t) => {
  const schema = { required: ['shard'], properties: { shard: { type: 'integer' } } }
  const long = 'x'.repeat(1000)
  const error = { description: 'a', content: { 'application/json': { schema } } }
  const done = { 204: { description: 'a' } }
  const item = { trace: { responses: done }, get: { responses: { ...done, default: error } } }
  const paths = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`/${long}${index}`, item]))
  enterDirectory(t, { 'many.json': documentOf(paths) })
  const printed = t.capture(console, 'log')
  await run(['many.json', 'many'])
  const many = printed()[0]?.args[0]
  t.match(many, /^Not counted: 7 that cannot be served .*\n( {2}#\/paths\S+ \.\.\.\n){3} {2}4 more\ngenerated/m)
  t.match(many, /^Errors are plain text.*\n {2}#\S+ \.\.\.\n(?! {2})/m)
  t.ok(many.split('\n').length < 24, 'a first screen')
  t.ok(many.match(/^ {2}#.*/gm).every((line: string) => line.length < 250))
  await t.rejects(run(['many.json', 'many']), {
    message: /^init: nothing is written, since (\S+, ){3}\d+ more already exist; name a new directory$/,
  })
})

t.test('init --install installs the packages, or says what to do', async (t) => {
  const npm = (code: number) => `#!/bin/sh\necho "$PWD $*" >> "$NOTES"\necho out\nexit ${code}\n`
  const directory = enterDirectory(t, {
    'none.json': documentOf({}),
    good: { npm: npm(0) },
    bad: { npm: npm(3) },
    notes: '',
  })
  const printed = t.capture(console, 'log')
  const told = t.capture(process.stderr, 'write')
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
    process.exitCode = 0
  })
  process.env.NOTES = join(directory, 'notes')
  for (const [name, next, problem] of [
    ['good', /\n {2}cd good-1\n {2}npm start$/, undefined],
    ['bad', /\n {2}cd bad-1\n {2}npm install\n {2}npm start$/, /^init: npm install failed in bad-1 \(3\); correct /],
    ['none', /\n {2}npm install\n {2}npm start$/, /^init: npm install failed in none-1 \(spawn npm ENOENT\); /],
  ] as const) {
    for (const file of ['good/npm', 'bad/npm']) chmodSync(file, 0o755)
    process.env.PATH = name === 'none' ? directory : `${join(directory, name)}:${PATH}`
    process.exitCode = 0
    await run(['none.json', `${name}-1`, '--install'])
    t.match(printed()[0]?.args[0], next)
    const [first, ...others] = told().map(({ args }) => String(args[0]))
    t.equal(first, `init: installing the packages of ${name}-1 with npm\n`)
    t.equal(process.exitCode, problem === undefined ? 0 : 1)
    t.same(others.length, problem === undefined ? 0 : 1)
    if (problem !== undefined) t.match(others[0], problem)
  }
  t.match(readFileSync('notes', 'utf8'), /^\S+good-1 install --no-audit --no-fund\n\S+bad-1 install/)
})

t.test('init says how many handlers return made values, and which respond with 501', async (t) => {
  const text = { description: 'a', content: { 'application/json': { schema: { type: 'string' } } } }
  const error = { description: 'a' }
  const paths = {
    '/made': { get: { operationId: 'made', responses: { 200: text } } },
    '/done': { get: { operationId: 'done', responses: { 204: { description: 'a' } } } },
    '/failing': { get: { operationId: 'failing', responses: { 404: error } } },
  }
  enterDirectory(t, { 'made.json': documentOf(paths) })
  const printed = t.capture(console, 'log')
  await run(['made.json', 'made'])
  const made = printed()[0]?.args[0]
  t.match(made, /^2 of 3 operations respond as the document describes them, 1 with values made from the schema\.$/m)
  t.match(made, /^These respond with 501 until you write them, for the reason in src\/handlers\.ts: failing$/m)
  const handlers = readFileSync(join('made', 'src', 'handlers.ts'), 'utf8')
  t.match(
    handlers,
    "// Made from the schema; the document has no valid example.\n    return { status: 200, body: 'text' }",
  )
  t.match(handlers, '// The document lists errors only, so the response is 501.')
})

t.test('init names the documents that it cannot read', async (t) => {
  enterDirectory(t, { 'two.json': '{ "swagger": "2.0", "info": { "title": "a", "version": "1.0.0" }, "paths": {} }' })
  await t.rejects(run(['two.json', 'new']), {
    message: /#\/swagger: this is Swagger 2\.0, which is not supported; convert the document to OpenAPI 3 first/,
  })
})

t.test('a project runs without tsx on each Node that strips types without a warning', async (t) => {
  for (const version of ['22.18.0', '22.23.3', '24.3.0', '25.0.0', '26.10.0'])
    t.match(runtimeFor(version), { command: 'node', node: '^22.18.0 || >=24.3.0' }, version)
  for (const version of ['20.19.3', '21.7.3', '22.17.1', '23.11.1', '24.2.0'])
    t.match(runtimeFor(version), { command: 'tsx', node: cliManifest.engines.node }, version)
})

t.test('the name of a package is made from any title', async (t) => {
  t.equal(packageName('例'), 'service')
  t.equal(packageName('3D Models API'), 'service-3d-models-api')
  t.equal(packageName('Cafés & Bars'), 'cafes-bars')
})

t.test('lint advises without failing, unless rules of the project have errors', async (t) => {
  const directory = t.testdir({
    'pets.yaml': document.replace("'../common/pet.yaml'", "'#/components/schemas/None'"),
    'none.yaml': 'extends: []\n',
    'strict.yaml': 'rules: { info-contact: error }\n',
  })
  const printed = t.capture(console, 'log')
  const lines = () => printed().flatMap(({ args }) => args)
  t.teardown(() => {
    process.exitCode = 0
  })
  // The rules of this repository are those of its own document.
  await lint([join(directory, 'pets.yaml'), '--rules', join(directory, 'none.yaml')])
  t.same(lines(), ['no findings'])
  t.not(process.exitCode, 1)
  await lint([join(directory, 'pets.yaml'), '--rules', join(directory, 'strict.yaml')])
  t.match(lines(), [/pets\.yaml:2:1 error info-contact: /, '1 findings, 1 errors'])
  t.equal(process.exitCode, 1)
})

const text = { type: 'string' }
const integer = { type: 'integer' }
const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', required, properties })

/** Compiles a document whose only operation has these responses. */
async function compiledWith(responses: object, schemas: object = {}) {
  const requestBody = { content: { 'application/json': { schema: integer } } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1' },
    paths: { '/a': { post: { operationId: 'a', requestBody, responses: { 204: { description: '' }, ...responses } } } },
    components: { schemas },
  }
  return await compileDocument(document as Document, 'a.yaml', {}, () => '')
}

/** Derives the error body of a document whose only operation has these responses. */
const derive = async (responses: object, schemas?: object) => deriveErrorBody(await compiledWith(responses, schemas))
const described = (schema: object, type = 'application/json') => ({ description: '', content: { [type]: { schema } } })

/** Returns the reply of the derived module, on one line. */
async function replyOf(schema: object, type?: string): Promise<string> {
  const derived = await derive({ default: described(schema, type) })
  if ('reasons' in derived) return derived.reasons.join('\n')
  return derived.text
    .slice(derived.text.indexOf('= (') + 2)
    .replace(/\s+/g, ' ')
    .trim()
}

t.test('an error body that is not of the type of its response is not derived', async (t) => {
  const check = async (responses: object) => {
    const compiled = await compiledWith(responses)
    return checkedErrorBody(compiled.document, deriveErrorBody(compiled))
  }
  const shard = { type: 'integer', format: 'int64', default: 7 }
  t.match(await check({ default: described(object({ message: text, shard })) }), {
    reasons: ['application/json: no error response has the type of the body that its members give'],
  })
  t.match(await check({ default: described(object({ message: text, code: integer })) }), { text: /statusCode/ })
  t.match(await check({ '4XX': described(object({ message: text }), 'application/*') }), { text: /message/ })
  t.match(await check({}), { text: /problem/ }, 'a document without errors has bodies of any type')
})

t.test('an error body is derived from the names and types of its members', async (t) => {
  const json = (parameters: string, body: string, type = 'application/json') =>
    `(${parameters}) => ({ contentType: '${type}', body: ${body}, })`
  const cases: [schema: object, expected: string, type?: string][] = [
    [object({ code: integer, message: text }), json('{ message, statusCode }', '{ code: statusCode, message }')],
    [
      object({ code: integer, status: integer, message: text }),
      json('{ error, message, statusCode }', '{ code: error, status: statusCode, message }'),
    ],
    [
      object({ error: object({ code: text, message: text }) }),
      json('{ kind, message }', '{ error: { code: kind, message } }'),
    ],
    [object({ errors: { type: 'array', items: text } }), json('{ message }', '{ errors: [message] }')],
    [
      object({ errors: { type: 'array', items: object({ detail: text, field: text }, ['detail']) } }),
      json('{ message }', '{ errors: [{ detail: message }] }'),
    ],
    [object({ error: text }), json('{ message }', '{ error: message }')],
    [
      object({ error: text, message: text }),
      json('{ message, statusCode }', "{ error: STATUS_CODES[statusCode] ?? 'Error', message }"),
    ],
    [
      object(
        { type: { ...text, format: 'uri-reference' }, title: text, detail: text, status: integer, instance: text },
        ['type'],
      ),
      json(
        '{ message, statusCode }',
        "{ type: 'about:blank', title: STATUS_CODES[statusCode] ?? 'Error', detail: message, status: statusCode }",
        'application/problem+json',
      ),
      'application/problem+json',
    ],
    [
      object({
        success: { type: 'boolean' },
        version: { const: 2 },
        requestId: text,
        message: { ...text, maxLength: 9 },
      }),
      json('{ message }, { id }', '{ success: false, version: 2, requestId: id, message: message.slice(0, 9) }'),
    ],
    [
      object({ code: { ...integer, format: 'int64' }, message: text, timestamp: { ...text, format: 'date-time' } }),
      json('{ message, statusCode }', '{ code: BigInt(statusCode), message, timestamp: new Date().toISOString() }'),
    ],
    [{ oneOf: [object({ shard: integer }), object({ message: text })] }, json('{ message }', '{ message }')],
    [object({ details: { type: 'array' }, message: text }), json('{ message }', '{ details: [message], message }')],
    [text, json('{ message }', 'message')],
    [text, json('{ message }', 'message', 'text/plain'), 'text/plain'],
  ]
  for (const [schema, expected, type] of cases) t.equal(await replyOf(schema, type), expected, JSON.stringify(schema))
})

t.test('a document without errors has problem details, and a status of its own has a case', async (t) => {
  t.match(await derive({}), { text: /contentType: 'application\/problem\+json',\n {2}body: \{ title: / })
  const some = {
    400: described(object({ errors: { type: 'array', items: text } })),
    default: described(object({ message: text })),
  }
  t.match(await derive(some), {
    text: /switch \(statusCode\) \{\n {4}case 400:\n {6}return \{\n.*\n.*errors: \[message\].*\n {6}\}\n {4}default:/,
  })
  t.match(
    await derive({ 404: described(object({ message: text })) }),
    { text: /body: \{ message \}/ },
    'another status',
  )
})

t.test('a member that cannot be filled for sure is named with its place', async (t) => {
  const place = '#/paths/~1a/post/responses/default: member '
  const cases: [schema: object, expected: string][] = [
    [object({ shard: integer }), 'shard (integer) has no known meaning'],
    [object({ reason: { ...text, enum: ['a', 'b'] } }), 'reason (one of a, b) has no known meaning'],
    [object({ error: object({ shard: text }) }), 'error.shard (string) has no known meaning'],
    [object({ code: { ...text, pattern: '^E' } }), 'code (string) has no known meaning'],
  ]
  for (const [schema, expected] of cases) t.equal(await replyOf(schema), place + expected)
  t.match(await derive({ default: described({}, 'image/png') }), {
    reasons: [/the body is image\/png; only JSON and text can be made$/],
  })
  const invalid = await derive({ default: described({ ...object({ message: text }), minProperties: 2 }) })
  t.match(invalid, { reasons: [/the body of errors .* does not match the declared schema: .*properties/] })
})

t.test('the body of an error that contains itself ends', async (t) => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const derived = async (name: string, schemas: object) => await derive({ default: described(ref(name)) }, schemas)
  const members = { message: text, inner: ref('Nested'), errors: { type: 'array', items: ref('Nested') } }
  const body = /body: \{ message, errors: \[\] \}/
  t.match(await derived('Nested', { Nested: object(members, ['message', 'errors']) }), { text: body })
  const branches = { ...object({ message: text }), anyOf: [ref('Leaf'), text] }
  t.match(await derived('Tree', { Tree: branches, Leaf: object({ error: ref('Tree') }, []) }), {
    text: /body: \{ message \}/,
  })
  t.match(await derived('Endless', { Endless: object({ inner: ref('Endless') }) }), {
    reasons: [/member inner \(object\) has no known meaning$/],
  })
  const names = Array.from({ length: 12 }, (_, index) => `Node${index}`)
  const links = Object.fromEntries(names.map((name) => [name, ref(name)]))
  const mesh = Object.fromEntries(names.map((name) => [name, object({ message: text, ...links }, ['message'])]))
  t.match(await derived('Node0', mesh), { text: /body: \{\s+message,/ }, 'schemas that all refer to each other')
})

t.test('a mock fills members of unknown meaning with examples, and writes other errors as plain text', async (t) => {
  const facts = { kind: 'invalid', error: 40000, statusCode: 400, message: 'wrong' }
  const bodyOf = async (responses: object, operation: string | undefined = 'a', statusCode = 400) =>
    describedErrorBody(await compiledWith(responses))({ ...facts, statusCode }, { id: 'b', operation })
  const shard = { type: 'integer', example: 7 }
  const reply = (body: unknown) => ({ contentType: 'application/json', body })
  const plain = { contentType: 'text/plain', body: 'wrong' }
  const responses = {
    400: described(object({ message: text, shard })),
    404: described(object({ message: text })),
    413: described({ ...object({ message: text }), minProperties: 2 }),
    415: described({}, 'image/png'),
    '5XX': { description: 'No content.' },
  }
  t.same(await bodyOf({ default: described(object({ message: text })) }), reply({ message: 'wrong' }), 'derived')
  t.same(await bodyOf(responses), reply({ message: 'wrong', shard: 7 }), 'filled')
  t.same(await bodyOf(responses, 'a', 404), reply({ message: 'wrong' }))
  t.same(await bodyOf(responses, 'a', 413), plain, 'a body that breaks its schema')
  t.same(await bodyOf(responses, 'a', 415), plain, 'a body that is neither JSON nor text')
  t.same(await bodyOf(responses, 'a', 500), reply({ message: 'wrong' }), 'a response without content')
  t.same(await bodyOf(responses, 'a', 409), reply({ message: 'wrong' }), 'a status without a response')
  t.same(await bodyOf(responses, ''), reply({ message: 'wrong', shard: 7 }), 'no operation, in the body of the status')
  const nested = {
    400: described(object({ errors: { type: 'array', minItems: 1, items: object({ shard: { not: {} } }) } })),
  }
  t.same(await bodyOf(nested), plain, 'a member without an example')
})
