import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { compileContract } from '../../src/emit/compile.ts'
import { writeStale } from '../../src/emit/generated-files.ts'
import { ownPath } from '../support/own-path.ts'

const content = (schema: object) => ({ 'application/json': { schema } })

/** Returns a document whose operation returns pets with a property. */
const documentOf = (version: string, property: string, servers?: { url: string }[]) =>
  JSON.stringify(
    {
      openapi: '3.1.0',
      info: { title: 'Pets', version },
      servers,
      paths: {
        '/pets': {
          get: {
            operationId: 'getPets',
            parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
            responses: {
              200: { description: 'd', content: content({ type: 'array', items: pet(property), minItems: 1 }) },
              default: { description: 'e', content: content(error(property)) },
            },
          },
        },
      },
    },
    null,
    2,
  )

const pet = (property: string) => ({
  type: 'object',
  required: [property],
  properties: { [property]: { const: 'Rex' } },
})

const error = (property: string) => ({
  type: 'object',
  required: [property],
  properties: { [property]: { type: 'string' } },
})

const engine = JSON.stringify(import.meta.resolve('fastify-contract'))

/** An application of both documents, below /v1 and /v2. The handler of v2 may be wrong. */
const application = `import { createMultiServer } from ${engine}

export async function createApp(verifyToken, { contracts, limits }) {
  const apiOf = (prefix, property) => ({
    contract: contracts[prefix],
    handlers: {
      async getPets({ query }) {
        if (property === process.env.WRONG && query.limit === undefined) throw new Error('wrong')
        return { status: 200, body: [{ [property]: 'Rex' }] }
      },
    },
    verifiers: {},
    errorBody: ({ message }) => ({ contentType: 'application/json', body: { [property]: message } }),
  })
  return createMultiServer({
    limits,
    contracts: { '/v1': apiOf('/v1', 'name'), '/v2': apiOf('/v2', 'title') },
    errors: '/v2',
  })
}
`

const files = {
  'package.json': JSON.stringify({
    type: 'module',
    'fastify-contract': { documents: { v1: { document: 'v1.json' }, v2: { document: 'v2.json' } } },
  }),
  'v1.json': documentOf('1.0.0', 'name', [{ url: 'https://pets.example/v1' }]),
  'v2.json': documentOf('2.0.0', 'title'),
  'settings.json': JSON.stringify({ v2: { off: { getPets: { 'no-server-error': 'it is wrong' } } } }),
  'single.json': JSON.stringify({ off: {} }),
  src: { 'app.js': application },
}

/** Writes a project with the generated files of both documents, and returns its directory. */
async function project(t: Test): Promise<string> {
  const directory = t.testdir(files)
  for (const name of ['v1', 'v2']) {
    const compiled = await compileContract(join(directory, `${name}.json`))
    await writeStale(compiled.files, join(directory, 'generated', name))
  }
  return directory
}

const start = (t: Test, cwd: string, args: string[], environment: Record<string, string> = {}) =>
  run(t, resolve(ownPath('src/cli.ts')), { GITHUB_ACTIONS: '', ...environment }, args, cwd)

/** Starts the mock, and returns its URL. */
async function mock(t: Test, cwd: string, args: string[] = []) {
  const { find, output } = start(t, cwd, ['mock', ...args])
  const [, url = ''] = await find('stdout', /^mock of Pets 1\.\d\.0 on (http:\/\/[^/]*)\/v1; it accepts any token\n/)
  await find('stdout', /^mock of Pets 2\.0\.0 on \S+\/v2; it accepts any token$/m)
  return { url, output }
}

t.test('mock serves each document below its prefix, and test finds it there', async (t) => {
  const directory = t.testdir(files)
  const { url } = await mock(t, directory)
  const get = async (path: string) => {
    const response = await fetch(url + path)
    return [response.status, await response.text()]
  }
  t.same(await get('/v1/pets'), [200, '[{"name":"Rex"}]'])
  t.same(await get('/v2/pets'), [200, '[{"title":"Rex"}]'])
  t.match(await get('/v1/pets?limit=a'), [400, /^\{"name":/])
  t.match(await get('/v2/pets?limit=a'), [400, /^\{"title":/])
  t.match(await get('/v2/none'), [404, /^\{"title":/])
  t.match(await get('/pets'), [404, /^\{"name":/], 'the errors of other paths are those of the first document')
  const test = (...args: string[]) => start(t, directory, ['test', '--requests', '60', ...args]).untilEnded()
  const both = await test('--url', url)
  t.match(both, { code: 0, stderr: '' })
  t.match(
    both.stdout,
    /^v1: v1\.json\nPets 1\.0\.0 at [\s\S]*\nno failures\nv2: v2\.json\nPets 2\.0\.0 at [\s\S]*\nno failures\n$/,
  )
  const elsewhere = await test('--url', `${url}/gate`)
  t.ok(elsewhere.stdout.includes(`'${url}/gate/v2/pets'`), 'a command has the URL of the request')
  const json = await test('--url', `${url}/`, '--json')
  t.match(JSON.parse(json.stdout), {
    v1: { version: 1, documentVersion: '1.0.0' },
    v2: { version: 1, documentVersion: '2.0.0' },
  })
})

t.test('mock reports each document that cannot be read, and does not start', async (t) => {
  const ended = await start(t, t.testdir({ ...files, 'v2.json': '{' }), ['mock']).untilEnded()
  t.match(ended, { code: 1, stdout: '', stderr: /^v2: v2\.json:1:/ })
})

t.test('test calls each document in one application, and names what fails', async (t) => {
  const directory = await project(t)
  const test = (args: string[], environment?: Record<string, string>) =>
    start(t, directory, ['test', '--requests', '60', ...args], environment).untilEnded()
  const right = await test([])
  t.match(right, { code: 0, stderr: '' })
  t.match(right.stdout, /^v1: v1\.json\n[\s\S]*\nno failures\nv2: v2\.json\n[\s\S]*\nno failures\n$/)
  const wrong = await test(['--junit', 'report.xml', '--github'], { WRONG: 'title' })
  t.equal(wrong.code, 1)
  t.match(wrong.stdout, /^v1: v1\.json\n[\s\S]*\nno failures\n[\s\S]*^v2: v2\.json\n[\s\S]*no-server-error/m)
  t.match(wrong.stdout, /'http:\/\/127\.0\.0\.1:3000\/v2\/pets'/)
  t.match(
    wrong.stdout,
    /^ {2}repeat {4}npx fastify-contract test --only v2 --requests 60 --seed 1 --operation 'getPets'$/m,
  )
  t.match(wrong.stdout, /^::error file=v2\.json,line=\d+,/m)
  t.match(readFileSync(join(directory, 'v1/report.xml'), 'utf8'), / failures="0"/)
  t.match(readFileSync(join(directory, 'v2/report.xml'), 'utf8'), / failures="[1-9]/)
  t.notOk(existsSync(join(directory, 'report.xml')))
  const off = await test(['--settings', 'settings.json', '--off', 'empty-body'], { WRONG: 'title' })
  t.match(off, { code: 0, stderr: '' })
  const only = await test(['--only', 'v1', '--operation', 'getPets'], { WRONG: 'title' })
  t.match(only, { code: 0, stdout: /^Pets 1\.0\.0 at / })
})

t.test('options of one document are rejected for several, and settings have the names of the documents', async (t) => {
  const directory = t.testdir(files)
  const ended = (...args: string[]) => start(t, directory, ['test', ...args]).untilEnded()
  t.match(await ended('--operation', 'getPets'), {
    code: 2,
    stderr: 'test: --operation is of one document, and package.json names several; choose one with --only NAME\n',
  })
  t.match(await ended('--settings', 'single.json'), {
    code: 2,
    stderr: 'test: single.json: unknown member "off"; expected "v1", "v2"\n',
  })
})

t.test('the commands generate, mock and test the service of the page about versions', async (t) => {
  const page = readFileSync(ownPath('../fastify-contract/docs/versions.md'), 'utf8')
  const directory = t.testdir({})
  const blocks = page.matchAll(/^```\w+\n((?:\/\/|#) (\S+)\n.*?)^```$/gms)
  const [, manifest = ''] = /^```json\n(.*?)```/ms.exec(page) ?? []
  const written = [['package.json', manifest], ...Array.from(blocks, ([, text = '', name = '']) => [name, text])]
  for (const [name = '', text = ''] of written) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  t.match(await start(t, directory, ['generate']).untilEnded(), {
    code: 0,
    stdout: /^v1: v1\.yaml$[\s\S]*^v2: v2\.yaml$/m,
  })
  t.match(await start(t, directory, ['generate', '--check']).untilEnded(), { code: 0, stdout: '' })
  const { url } = await mock(t, directory)
  // The mock accepts any credentials.
  const token = { CONTRACT_TEST_BEARER: 'any' }
  for (const server of [['--url', url, '--off', 'requires-credentials'], []]) {
    const tested = await start(t, directory, ['test', '--requests', '60', ...server], token).untilEnded()
    t.match(tested, { code: 0, stderr: '', stdout: /no failures\nv2: [\s\S]*no failures\n$/ })
  }
})
