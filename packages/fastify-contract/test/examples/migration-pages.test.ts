import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { compileContract } from 'fastify-contract-cli/compile'
import { nodeCommand, runCommand } from 'fastify-contract-test-support/child-process'
import { diagnose } from 'fastify-contract-test-support/compiler'
import {
  isAsWritten,
  type MigrationPage,
  pageToken,
  programEnvironment,
  readMigrationPage,
  respond,
  untilHealthy,
} from 'fastify-contract-test-support/migration-page'
import t, { type Test } from 'tap'
import { ownPath } from '../support/own-path.ts'

const document = ownPath('examples/migration/openapi.yaml')
const generated = await compileContract(document, { rules: ownPath('test/examples/redocly.yaml') })
const [, errorBody = ''] =
  /^```ts\n\/\/ error-body\.ts\n(.*?)^```$/ms.exec(readFileSync(ownPath('README.md'), 'utf8')) ?? []

const pages = Object.fromEntries(
  ['from-glue', 'from-express', 'from-openapi-fetch'].map((name) => [
    name,
    readMigrationPage(ownPath(`docs/${name}.md`)),
  ]),
) as Record<'from-glue' | 'from-express' | 'from-openapi-fetch', MigrationPage>

/** Writes the programs of a page that need only this package, with the generated files. */
function writePrograms(t: Test, { files }: MigrationPage, names: string[]): string {
  const directory = t.testdir({ 'package.json': '{ "type": "module" }', 'error-body.ts': errorBody })
  for (const name of names) writeFileSync(join(directory, name), files[name] as string)
  for (const [name, text] of Object.entries(generated.files)) {
    const path = join(directory, 'generated', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  t.same(
    diagnose(
      names.map((name) => join(directory, name)),
      {},
    ),
    [],
  )
  return directory
}

/** Starts a program of a page, and returns its URL. */
async function start(t: Test, directory: string, name: string): Promise<string> {
  const { environment, url } = await programEnvironment()
  const { child, output } = runCommand(t, nodeCommand(join(directory, name)), environment, directory)
  await untilHealthy(
    url,
    () => child.exitCode !== null,
    () => output.stderr,
  )
  return url
}

t.test('the document has no warnings, and no page tells another number of lines', async (t) => {
  t.same(generated.warnings, [])
  for (const { lineCounts } of Object.values(pages)) {
    t.ok(lineCounts.length > 1)
    for (const { name, told, counted } of lineCounts) t.equal(told, counted, name)
  }
})

for (const [name, programs] of [
  ['from-glue', ['after.ts']],
  ['from-express', ['handlers.ts', 'after.ts']],
] as const)
  t.test(`the program after ${name} compiles and responds as the page says`, async (t) => {
    const page = pages[name]
    const url = await start(t, writePrograms(t, page, [...programs]), 'after.ts')
    t.ok(page.rows.length > 10)
    for (const { request, responses } of page.rows) {
      const response = await respond(url, request)
      t.ok(isAsWritten(response, responses.at(-1) as string), `${request}: ${response}`)
    }
  })

t.test('the client after from-openapi-fetch compiles and prints what the page says', async (t) => {
  const service = writePrograms(t, pages['from-express'], ['handlers.ts', 'after.ts'])
  const url = await start(t, service, 'after.ts')
  const page = pages['from-openapi-fetch']
  const directory = join(service, 'client')
  cpSync(join(service, 'generated'), join(directory, 'generated'), { recursive: true })
  const path = join(directory, 'after.ts')
  writeFileSync(path, page.files['after.ts'] as string)
  t.same(diagnose([path], {}), [])
  const environment = { BASE_URL: `${url}/v1`, ACCESS_TOKEN: pageToken }
  const { code, stdout } = await runCommand(t, nodeCommand(path), environment).untilEnded()
  t.same({ code, stdout }, { code: 0, stdout: page.output })
})

t.test('the types of openapi-typescript that the page names keep compiling', async (t) => {
  const text = readFileSync(ownPath('docs/from-openapi-fetch.md'), 'utf8')
  const types = Array.from(text.matchAll(/`((?:components|paths|operations)\[[^`]+)`/g), ([, type]) => type)
  t.ok(types.length > 2)
  const module = [
    "import type { components, operations, paths } from './generated/api.d.ts'",
    ...types.map((type, index) => `export type Type${index} = ${type}`),
    "export const pet: Type0 = { id: 1n, name: 'Tim' }",
  ].join('\n')
  writePrograms(t, { ...pages['from-openapi-fetch'], files: { 'types.ts': module } }, ['types.ts'])
})

t.test('the document that @fastify/swagger writes of the routes of an application is served', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Pets', version: '1.0.0' } } })
  const pet = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  const params = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  app.get('/pets/:id', { schema: { params, response: { 200: pet } } }, async () => ({ id: 7 }))
  await app.ready()
  const directory = t.testdir({ 'openapi.yaml': app.swagger({ yaml: true }) })
  const { routes } = await compileContract(join(directory, 'openapi.yaml'), {
    rules: ownPath('test/examples/redocly.yaml'),
  })
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['getPetsById'],
  )
})
