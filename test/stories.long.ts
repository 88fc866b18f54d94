import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { writePackages } from '../scripts/build/packages.ts'

const execute = promisify(execFile)

/** The deadline of each step in milliseconds: the machine may be slow under load. */
const limit = 180_000

/** Environment of all commands: npm asks the registry only for what its cache lacks. */
const env = {
  ...process.env,
  FORCE_COLOR: '0',
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  EVENT_LOOP_DELAY_LIMIT: '60000',
  // tap's loaders are for the sources of this repository.
  NODE_OPTIONS: '',
}

// Empty folders outside of the repository, so that Node cannot find the sources of the package.
const directory = mkdtempSync(join(tmpdir(), 'stories-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const run = async (cwd: string, file: string, ...args: string[]) =>
  (await execute(file, args, { cwd, env, timeout: limit, maxBuffer: 2 ** 26 })).stdout
await writePackages(directory)
await run(join(directory, 'fastify-contract-cli'), 'npm', 'pack', '--silent', '--pack-destination', directory)

const examples = 'node_modules/@readme/oas-examples'

/** Documents that others wrote: the name of each story, and the path of its document. */
const stories: [name: string, document: () => Promise<string>][] = [
  ['OpenAPI 3.1 with problem details and webhooks', async () => `${examples}/3.1/yaml/train-travel.yaml`],
  ['OpenAPI 3.0 with API keys in headers, queries and cookies', async () => `${examples}/3.0/yaml/security.yaml`],
  ['forms and multipart', async () => `${examples}/3.0/yaml/file-uploads.yaml`],
  ['OAuth scopes', async () => `${examples}/3.0/yaml/petstore.yaml`],
  ['several files', splitDocument],
]

/** Splits a document into a file for each path and schema, and returns the path of the first file. */
async function splitDocument(): Promise<string> {
  const folder = join(directory, 'split')
  const redocly = resolve('node_modules/@redocly/cli/bin/cli.js')
  const document = `${examples}/3.0/yaml/petstore-expanded.yaml`
  await run('.', process.execPath, redocly, 'split', document, `--outDir=${folder}`)
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.yaml')) as string)
}

/** An operation to add to each document. Its example makes the first version of its handler. */
const operation = `
  /story-check:
    get:
      operationId: checkStory
      security: []
      responses:
        '200':
          description: Checked.
          content:
            application/json:
              schema: { type: object, required: [count], properties: { count: { type: integer, format: int64 } } }
              example: { count: 1 }
`

/** Returns the paths of the code and the settings below a folder, except what is installed or generated. */
const ownFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) => /\.(?:ts|json)$/.test(path) && !/\/(node_modules|generated|dist|openapi)\/|package-lock/.test(path),
    )

const linesOf = (path: string): number => readFileSync(path, 'utf8').split('\n').length - 1

function edit(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (text.replace(from, '') === text) throw new Error(`${path} has no ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
}

/** Starts a command of a project on the free ports that its .env names, and kills it when the test ends. */
async function start(t: Test, cwd: string, script: string) {
  const port = await freePort()
  writeFileSync(join(cwd, '.env'), `PORT=${port}\nMANAGEMENT_PORT=${await freePort()}\n`)
  const withoutPorts = { ...env, PORT: undefined, MANAGEMENT_PORT: undefined }
  const started = spawnProcess(['npm', 'run', '--silent', script], { cwd, detached: true, env: withoutPorts })
  t.teardown(() => started.signal('SIGKILL'))
  return {
    ...started,
    port,
    sees: (pattern: RegExp) =>
      until(
        () => pattern.exec(started.output.stdout + started.output.stderr),
        () => `${pattern} in ${started.output.stdout}${started.output.stderr}`,
        limit,
      ),
  }
}

for (const [name, documentOf] of stories)
  t.test(`from a document to a service: ${name}`, { timeout: 15 * 60_000 }, async (t) => {
    const begin = performance.now()
    const steps: string[] = []
    let last = begin
    const step = (what: string) => {
      steps.push(`${what} ${((performance.now() - last) / 1000).toFixed(1)} s`)
      last = performance.now()
    }
    const document = resolve(await documentOf())
    const project = join(directory, name.replace(/\W+/g, '-'))
    mkdirSync(project)
    // init runs in a folder that contains only the document.
    const given = join(project, basename(document))
    if (name === 'several files') cpSync(join(document, '..'), project, { recursive: true })
    else cpSync(document, given)
    // Without file: npm 11.19 takes the path of a package for that of a program.
    const tarball = `file:${join(directory, 'fastify-contract-cli-0.1.0.tgz')}`
    const printed = await run(project, 'npx', '--yes', tarball, 'init', basename(given))
    t.comment(printed)
    t.match(printed, /src\/error-body\.ts creates the body of errors as the document describes it/)
    step('init')
    await run(project, 'npm', 'install', '--silent')
    step('install')
    await run(project, 'npx', 'tsc')
    step('tsc')
    t.match(await run(project, 'npm', 'test'), /^# fail 0$/m)
    step('test')
    const service = await start(t, project, 'start')
    const [curl] = await service.sees(/^curl (.*\\\n)*.*$/m)
    const answer = await run(project, 'sh', '-c', `${curl} -s -o /dev/null -w '%{http_code}'`)
    t.match(answer, /^(2\d\d|501)$/, curl)
    service.signal('SIGTERM')
    step('start')

    const dev = await start(t, project, 'dev')
    await dev.sees(/^curl /m)
    step('dev')
    edit(given, /^paths:\n/m, `paths:${operation}`)
    const handlers = join(project, 'src/handlers.ts')
    const line = readFileSync(handlers, 'utf8').split('\n').indexOf('export const handlers: Handlers = {') + 1
    await dev.sees(new RegExp(`^src/handlers\\.ts:${line}:14 - error TS2741: Property 'checkStory' is missing`, 'm'))
    const [, stub = ''] = await dev.sees(/^new, for src\/handlers\.ts:\n\n(.*?\n {2}\},)\n/ms)
    t.match(stub, /return \{ status: 200, body: \{ count: 1n \} \}/)
    step('compile error')
    edit(
      handlers,
      /\n\}\n$/,
      `\n\n${stub.replace(/\/\/ The example.*\n.*return.*/, 'return { status: 200, body: { count: 9007199254740993n } }')}\n}\n`,
    )
    const url = `http://127.0.0.1:${dev.port}`
    const { servers = [] }: { servers?: { url: string }[] } = JSON.parse(
      readFileSync(join(project, 'generated/openapi.json'), 'utf8'),
    )
    const base = new URL(servers[0]?.url.replace(/\{.*?\}/g, 'a') ?? '/', url).pathname.replace(/\/$/, '')
    let body = ''
    await until(
      async () => {
        const response = await fetch(`${url}${base}/story-check`, { headers: { connection: 'close' } })
        body = `${response.status} ${await response.text()}`
        return response.ok
      },
      () => `the new handler: ${body}`,
      limit,
    )
    t.equal(body, '200 {"count":9007199254740993}', 'the handler that was written by hand')
    dev.signal('SIGINT')
    step('reload')
    t.match(await run(project, 'npm', 'test'), /^# fail 0$/m)
    await run(project, 'npx', 'fastify-contract', 'lint', basename(given))
    step('test again')

    const own = ownFiles(project)
    const count = (paths: string[]) => paths.reduce((sum, path) => sum + linesOf(path), 0)
    const others = count(own.filter((path) => path !== handlers))
    t.ok(others < 200, `${others} lines are the user's own, besides ${linesOf(handlers)} of handlers`)
    t.comment(`${Math.round((performance.now() - begin) / 1000)} s: ${steps.join(', ')}`)
  })
