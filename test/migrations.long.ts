import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import {
  isAsWritten,
  pageToken,
  programEnvironment,
  readMigrationPage,
  respond,
  untilHealthy,
} from 'fastify-contract-test-support/migration-page'
import t, { type Test } from 'tap'
import { env, packPackages, run } from './support/packed-packages.ts'

// The packages before a migration would burden npm ci. An empty folder outside of the repository gets the versions that
// the pages name.
const directory = mkdtempSync(join(tmpdir(), 'migrations-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const docs = join('packages', 'fastify-contract', 'docs')
const pages = {
  glue: readMigrationPage(join(docs, 'from-glue.md')),
  express: readMigrationPage(join(docs, 'from-express.md')),
  fetch: readMigrationPage(join(docs, 'from-openapi-fetch.md')),
}

const installed = join(directory, 'installed')
const command = (name: string) => join(installed, 'node_modules', '.bin', name)

/** Runs a module without the process of the command tsx, which would leave its child behind. */
const tsx = [process.execPath, '--import=tsx']

/** Packs this repository's packages, and installs them beside those of the pages. */
async function install(): Promise<string[]> {
  mkdirSync(installed)
  const files = (await packPackages(directory)).values()
  const named = [...new Set(Object.values(pages).flatMap((page) => page.packages))]
  const { overrides } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { 'light-my-request': cookie } = overrides
  write('package.json', JSON.stringify({ type: 'module', overrides: { 'light-my-request': cookie } }))
  await run(installed, 'npm', 'install', '--ignore-scripts', ...files, ...named, 'typescript@5.9.3', '@types/node@20')
  return named
}

const write = (name: string, text: string): void => writeFileSync(join(installed, name), text)

/** Writes the programs of a page with what they need, in a folder that has the packages, and compiles them. */
async function compile(t: Test, name: keyof typeof pages, more: Record<string, string> = {}): Promise<string> {
  const folder = join(installed, name)
  mkdirSync(folder)
  cpSync('packages/fastify-contract/examples/migration/openapi.yaml', join(folder, 'openapi.yaml'))
  const readme = readFileSync('packages/fastify-contract/README.md', 'utf8')
  const [, errorBody = ''] = /^```ts\n\/\/ error-body\.ts\n(.*?)^```$/ms.exec(readme) ?? []
  const [, options = ''] = /^```json\n(\{\n {2}"compilerOptions".*?)^```$/ms.exec(readme) ?? []
  const files = { ...pages[name].files, ...more, 'error-body.ts': errorBody, 'tsconfig.json': options }
  for (const [file, text] of Object.entries(files)) write(join(name, file), text)
  await run(folder, command('fastify-contract'), 'generate', '--errors', 'error-body.ts')
  if (name === 'fetch') await run(folder, command('openapi-typescript'), 'openapi.yaml', '-o', 'api.d.ts')
  t.equal(await run(folder, command('tsc')), '', `the programs of ${name} compile`)
  return folder
}

/** Starts a program, and returns its URL with a function that stops it. */
async function start(t: Test, folder: string, name: string) {
  const { environment, url } = await programEnvironment()
  const program = spawnProcess([...tsx, name], { cwd: folder, env: { ...env, ...environment } })
  t.teardown(() => program.signal('SIGKILL'))
  await untilHealthy(
    url,
    () => program.child.exitCode !== null,
    () => program.output.stderr,
  )
  return { url, stop: () => program.stop('SIGKILL') }
}

t.test('the packages of the pages can be installed', { timeout: 600_000 }, async (t) => {
  const begun = performance.now()
  const named = await install()
  t.comment(`${named.length} packages, ${Math.round((performance.now() - begun) / 1000)} s`)
  t.ok(named.length > 5)
})

/** The programs of a page in the order of the columns of its table. */
const programs = { glue: ['before.ts', 'after.ts'], express: ['validator.ts', 'backend.ts', 'after.ts'] } as const

for (const name of ['glue', 'express'] as const)
  t.test(`the programs of ${name} compile and respond as the page says`, { timeout: 600_000 }, async (t) => {
    const folder = await compile(t, name)
    const { rows } = pages[name]
    t.ok(rows.length > 10)
    for (const [column, program] of programs[name].entries()) {
      const { url, stop } = await start(t, folder, program)
      for (const { request, responses } of rows) {
        const response = await respond(url, request)
        t.ok(isAsWritten(response, responses[column] as string), `${program}: ${request}: ${response}`)
      }
      await stop()
    }
  })

t.test('Express in front responds like the program after, except for a path that nobody has', async (t) => {
  const { url, stop } = await start(t, join(installed, 'express'), 'in-front.ts')
  for (const { request, responses } of pages.express.rows) {
    const response = await respond(url, request)
    if (/ 40[45] |^40[45] /.test(responses.at(-1) as string))
      t.match(response, /^404 `\{"message":"Route .* not found"/)
    else t.ok(isAsWritten(response, responses.at(-1) as string), `${request}: ${response}`)
  }
  await stop()
})

/** An application with @fastify/express, whose Express has the route /health. */
const behind = (imported: string, created: string, registered: string) => `import fastifyExpress from '@fastify/express'
import express from 'express'
import Fastify from 'fastify'
import { bearer, ${imported}, listVerifier } from 'fastify-contract'
import { errorBody } from './error-body.ts'
import { contract } from './generated/contract.mjs'
import { handlers } from './handlers.ts'

const old = express()
old.get('/old', (_request, response) => {
  response.json({ ok: true })
})
const verifiers = { bearer: bearer(listVerifier([process.env.ACCESS_TOKEN ?? ''])) }
const app = ${created}
await app.register(fastifyExpress)
app.use(old)
${registered}
app.get('/health', async () => ({ ok: true }))
await app.listen({ port: Number(process.env.PORT) })
`

t.test('routes of Express are served behind the plugin, but not behind createServer', async (t) => {
  const folder = join(installed, 'express')
  const options = '{ contract, handlers, verifiers, errorBody }'
  const kinds = [
    {
      name: 'plugin.ts',
      status: 200,
      text: behind('contractPlugin', 'Fastify()', `app.register(contractPlugin, ${options})`),
    },
    { name: 'server.ts', status: 404, text: behind('createServer', `createServer(${options})`, '') },
  ]
  for (const { name, status, text } of kinds) {
    write(join('express', name), text)
    const { url, stop } = await start(t, folder, name)
    t.equal((await fetch(`${url}/old`)).status, status, name)
    t.equal(await respond(url, '`GET /v1/pets/7`'), '200 `{"id":7,"name":"Tom"}`', name)
    await stop()
  }
})

t.test('the clients of the page compile and print what it says', { timeout: 600_000 }, async (t) => {
  const folder = await compile(t, 'fetch')
  for (const name of ['before.ts', 'after.ts']) {
    const { url, stop } = await start(t, join(installed, 'express'), 'after.ts')
    const environment = { ...env, BASE_URL: `${url}/v1`, ACCESS_TOKEN: pageToken }
    const { code, stdout } = await spawnProcess([...tsx, name], { cwd: folder, env: environment }).untilEnded()
    const { output } = pages.fetch
    const expected = name === 'before.ts' ? output.replaceAll('9007199254740993', '9007199254740992') : output
    t.same({ code, stdout }, { code: 0, stdout: expected }, name)
    await stop()
  }
})
