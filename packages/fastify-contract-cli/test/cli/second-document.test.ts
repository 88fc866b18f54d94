import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { run, runCommand } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { run as init } from '../../src/cli/init.ts'
import { ciWorkflow } from '../../src/init/files/ci-workflow.ts'
import { ownPath } from '../support/own-path.ts'

/** Returns a document whose pets and errors have properties with the given names. */
const documentOf = (version: string, name: string, error: string) => `openapi: 3.1.0
info: { title: Pets, version: ${version} }
security: [{ bearer: [] }]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ name: id, in: path, required: true, schema: { type: integer, format: int64 } }]
      responses:
        '200': { description: A pet, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
        default: { description: An error, content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
components:
  securitySchemes: { bearer: { type: http, scheme: bearer } }
  schemas:
    Pet: { type: object, required: [${name}], properties: { ${name}: { type: string } } }
    Error: { type: object, required: [${error}], properties: { ${error}: { type: string } } }
`

/** Returns the text of a page without the indentation of its lists. */
const page = readFileSync(ownPath('docs/versions.md'), 'utf8').replace(/^ {3}/gm, '')
const steps = page.slice(page.indexOf('## Add a second document'))

t.test('the steps of the page add a second document to a project of init', async (t) => {
  const directory = t.testdir({ 'openapi.yaml': documentOf('1.0.0', 'name', 'message') })
  const project = join(directory, 'pets')
  const at = (path: string) => join(project, path)
  const read = (path: string) => readFileSync(at(path), 'utf8')
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  const capture = t.capture(console, 'log')
  await init([join(directory, 'openapi.yaml'), project, '--without', 'docs'])
  capture.restore()
  // The packages are sources here, which use more of the library than a project needs.
  const { compilerOptions, ...others } = JSON.parse(read('tsconfig.json'))
  const lib = ['ES2023', 'ES2024.String']
  write('tsconfig.json', JSON.stringify({ ...others, compilerOptions: { ...compilerOptions, lib } }))
  const command = (...args: string[]) =>
    run(t, resolve(ownPath('src/cli.ts')), { GITHUB_ACTIONS: '' }, args, project).untilEnded()

  // Step 1.
  mkdirSync(at('openapi'))
  renameSync(at('openapi.yaml'), at('openapi/v1.yaml'))
  write('openapi/v2.yaml', documentOf('2.0.0', 'nickname', 'title'))
  mkdirSync(at('src/v1'))
  for (const name of ['handlers.ts', 'error-body.ts']) renameSync(at(join('src', name)), at(join('src/v1', name)))
  rmSync(at('generated'), { recursive: true })
  const [, settings = ''] = /^```json\n([\s\S]*?)```/m.exec(steps) ?? []
  const manifest = JSON.parse(read('package.json'))
  write('package.json', JSON.stringify({ ...manifest, ...JSON.parse(`{${settings}}`) }))

  // Step 2.
  for (const name of ['handlers.ts', 'error-body.ts']) {
    const path = join('src/v1', name)
    write(path, read(path).replaceAll('../generated/', '../../generated/v1/'))
  }

  // Step 3.
  const generated = await command('generate')
  t.match(generated, { code: 0, stderr: '' })
  const [, handlers = ''] =
    /^v2: [\s\S]*?\n\n( {2}\/\/ GET \/pets\/\{id\}[\s\S]*?)\nwrote /m.exec(generated.stdout) ?? []
  const ofV2 = (text: string) => text.replace('generated/v1/', 'generated/v2/')
  write('src/v2/handlers.ts', ofV2(read('src/v1/handlers.ts')).replace(/^ {2}\/\/ GET [\s\S]*(?=^\}$)/m, handlers))
  write(
    'src/v2/error-body.ts',
    ofV2(read('src/v1/error-body.ts')).replace('body: { message }', 'body: { title: message }'),
  )

  // Steps 4 and 5.
  const modules = Array.from(steps.matchAll(/^```ts\n(\/\/ (\S+)\n[\s\S]*?)```/gm), ([, text = '', path = '']) => {
    t.ok(existsSync(at(path)), `${path} replaces that of init`)
    write(path, text)
    return path
  })
  t.same(modules, ['src/app.ts', 'src/server.ts', 'test/contract.test.ts'])

  // Step 6.
  t.match(await command('generate', '--check'), { code: 0, stdout: '', stderr: '' })
  t.match(await command('typecheck'), { code: 0, stdout: '' })
  const tests = [process.execPath, '--import', import.meta.resolve('tsx'), '--test', 'test/contract.test.ts']
  t.match(await runCommand(t, tests, {}, project).untilEnded(), { code: 0, stdout: /^# pass 2$/m })

  // Step 7: init writes the workflow only into a repository of its own.
  const workflow = ciWorkflow({ manager: 'npm', leftOut: new Map() } as unknown as Parameters<typeof ciWorkflow>[0])
  t.match(workflow, "hashFiles('openapi/released/**/*.json')")
  t.match(workflow, 'git show HEAD^1:generated/openapi.json > "$base"')

  const token = randomBytes(32).toString('hex')
  const service = run(t, at('src/server.ts'), { ACCESS_TOKENS: token }, [], project)
  const [, url = ''] = await service.find('stderr', /^pets \/v1 1\.0\.0, \/v2 2\.0\.0 on (\S+),/m)
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { headers })
    return [response.status, await response.json()]
  }
  const authorization = `Bearer ${token}`
  t.match(await get('/v1/pets/7', { authorization }), [200, { name: String }])
  t.match(await get('/v2/pets/7', { authorization }), [200, { nickname: String }])
  t.match(await get('/v1/pets/7'), [401, { message: String }])
  t.match(await get('/none'), [404, { title: String }])
  await service.stop()
})
