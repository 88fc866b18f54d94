import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { runTool } from './run-tool.ts'

/*
 * Runs the steps of action.yaml as a runner of GitHub does, with the files of an event, for a checkout of depth 1, and
 * with a server in place of GitHub's API.
 */

type Step = { id?: string; if?: string; run: string; shell: string; env?: Record<string, string> }
type Action = { inputs: Record<string, { default?: string }>; runs: { using: string; steps: Step[] } }

const action: Action = parse(readFileSync('action.yaml', 'utf8'))

const documentOf = (type: string, version = '1.0.0') => `openapi: 3.1.0
info: { title: Boxes, version: ${version} }
paths:
  /boxes:
    get:
      operationId: list
      responses:
        '200': { description: Done, content: { application/json: { schema: { type: ${type} } } } }
`

/** The name of a branch that a shell would run, and that the log would take for a command. */
const hostile = '$(touch$IFS@pwned);`touch$IFS@pwned`'

type Comment = { id: number; body: string; user: { type: string; login?: string } }

const bot = { type: 'Bot', login: 'github-actions[bot]' }
type Call = { method: string | undefined; url: string | undefined; body: { body: string } | undefined }

/** Starts a server in place of the API, with the comments of one pull request. */
async function startApi(t: Test, comments: Comment[], status = 200) {
  const calls: Call[] = []
  const server: Server = createServer(async (request, response) => {
    const { method, url, headers } = request
    t.equal(headers.authorization, 'Bearer secret-token')
    calls.push({ method, url, body: method === 'GET' ? undefined : ((await json(request)) as Call['body']) })
    response.writeHead(method === 'GET' ? 200 : status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(method === 'GET' ? comments : {}))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

/** Creates a repository with a base and a pull request that is merged into it, and a checkout of that merge. */
function checkOut(t: Test, before: string | undefined, after: string, modules: Record<string, string>) {
  const directory = t.testdir({ origin: {}, temp: {} })
  const [origin, checkout] = [join(directory, 'origin'), join(directory, 'checkout')]
  // Settings of the machine, such as signatures, do not count.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' }
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org']
  const git = (cwd: string, ...args: string[]) => execFileSync('git', [...identity, ...args], { cwd, env })
  const commit = (text: string | undefined, message: string) => {
    if (text !== undefined) writeFileSync(join(origin, 'api', 'openapi.yaml'), text)
    git(origin, 'add', '--all')
    git(origin, 'commit', '--quiet', '--allow-empty', '--message', message)
  }
  git(origin, 'init', '--quiet', '--initial-branch', 'main')
  git(origin, 'config', 'uploadPack.allowAnySHA1InWant', 'true')
  mkdirSync(join(origin, 'api'))
  writeFileSync(join(origin, 'api', 'other.txt'), '')
  commit(before, 'base')
  git(origin, 'checkout', '--quiet', '-b', hostile)
  commit(after, 'change')
  git(origin, 'checkout', '--quiet', 'main')
  git(origin, 'merge', '--quiet', '--no-ff', '--message', 'merge', hostile)
  git(directory, 'clone', '--quiet', '--depth=1', pathToFileURL(origin).href, checkout)
  const installed = join(checkout, 'api', 'node_modules', 'fastify-contract-cli')
  mkdirSync(installed, { recursive: true })
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(installed, name), text)
  return { directory, checkout }
}

const sources = (path: string) => resolve('packages/fastify-contract-cli', path)

/** The commands of this repository, as a package that is installed. */
const ownCommands = {
  'package.json': JSON.stringify({ type: 'module', bin: { 'fastify-contract': './cli.js' } }),
  'cli.js': `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}
register()
await import(${JSON.stringify(pathToFileURL(sources('src/cli.ts')).href)})`,
}

/** A command that prints given text. */
const printing = (text: string, code: number) => ({
  'package.json': JSON.stringify({ bin: { 'fastify-contract': './cli.cjs' } }),
  'cli.cjs': `console.error('::set-output name=failed::no')
if (process.env.GITHUB_OUTPUT ?? process.env.GITHUB_STEP_SUMMARY) process.exit(3)
console.log(${JSON.stringify(text)}); process.exitCode = ${code}`,
})

type Files = ReturnType<typeof checkOut>

/** Runs the steps, and returns what they printed and wrote, and the exit code of the first that fails. */
async function runSteps({ directory, checkout }: Files, inputs: Record<string, string>, api: string, event: object) {
  const defaults = Object.entries(action.inputs).map(([name, { default: value = '' }]) => [name, value])
  const given: Record<string, string> = { ...Object.fromEntries(defaults), ...inputs }
  const files = Object.fromEntries(['event', 'output', 'summary'].map((name) => [name, join(directory, name)]))
  const { event: eventFile = '', output = '', summary = '' } = files
  writeFileSync(eventFile, JSON.stringify(event))
  writeFileSync(output, '')
  writeFileSync(summary, '')
  const runner = {
    GITHUB_ACTION_PATH: resolve('.'),
    GITHUB_API_URL: api,
    GITHUB_EVENT_PATH: eventFile,
    GITHUB_OUTPUT: output,
    GITHUB_REPOSITORY: 'owner/boxes',
    GITHUB_STEP_SUMMARY: summary,
    RUNNER_TEMP: join(directory, 'temp'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GITHUB_TOKEN: '',
  }
  const outputs = () =>
    Object.fromEntries(
      readFileSync(output, 'utf8')
        .split('\n')
        .map((line) => line.split(/=(.*)/s)),
    )
  const expressionValue = (name: string): string => {
    const [, input, step] = /^(?:inputs\.([\w-]+)|steps\.compare\.outputs\.(\w+))$/.exec(name) ?? []
    if (name === 'github.token') return 'secret-token'
    return String(input === undefined ? outputs()[step as string] : given[input])
  }
  const filled = (text: string) => text.replace(/\$\{\{ (\S+) \}\}/g, (_, name) => expressionValue(name))
  let log = ''
  let code: number | null = 0
  for (const { if: condition, run, env = {} } of action.runs.steps) {
    const [, name = '', value] = /^\$\{\{ (\S+) == '(\w+)' \}\}$/.exec(condition ?? '') ?? []
    if (code !== 0 || (condition !== undefined && expressionValue(name) !== value)) continue
    const variables = Object.fromEntries(Object.entries(env).map(([key, text]) => [key, filled(text)]))
    const cwd = 'BASE' in env ? join(checkout, given['working-directory'] as string) : checkout
    const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', run]
    const end = await spawnProcess(shell, { cwd, env: { ...runner, ...variables } }).untilEnded(120_000)
    log += end.stdout + end.stderr
    code = end.code
  }
  return { code, log, summary: readFileSync(summary, 'utf8'), failed: outputs().failed }
}

const inputs = { document: 'openapi.yaml', 'working-directory': 'api' }
const event = { pull_request: { number: 7, title: hostile, head: { ref: hostile }, base: { sha: '0'.repeat(40) } } }
const marker = '<!-- fastify-contract changes api%2Fopenapi.yaml -->'

t.test('no input and no text of the event is part of a script, and one step alone has the token', async (t) => {
  t.equal(action.runs.using, 'composite')
  for (const { run } of action.runs.steps) t.notMatch(run, '${{')
  const withToken = action.runs.steps.filter((step) => JSON.stringify(step).includes('token'))
  t.equal(withToken.length, 1)
  t.match(withToken[0]?.run, /comment\.js"$/)
})

t.test('a pull request with a breaking change gets a comment and a summary, and fails', async (t) => {
  const { url, calls } = await startApi(t, [
    { id: 1, body: marker, user: { type: 'User', login: 'person' } },
    { id: 2, body: marker, user: { type: 'Bot', login: 'echo[bot]' } },
  ])
  const files = checkOut(t, documentOf('string'), documentOf('integer'), ownCommands)
  const { code, summary, failed, log } = await runSteps(files, inputs, url, event)
  t.same([code, failed], [1, 'true'], log)
  t.match(
    summary,
    /^### Changes of `openapi\.yaml`: 1 breaking, 0 compatible, 0 text\n\n- \*\*breaking\*\* `+modified #.*/,
  )
  t.match(log, '::error::the document has changes of the severity fail-on')
  t.same(
    calls.map(({ method, url }) => `${method} ${url}`),
    ['GET /repos/owner/boxes/issues/7/comments?per_page=100&page=1', 'POST /repos/owner/boxes/issues/7/comments'],
    'a comment of a person or of another bot is not changed',
  )
  t.equal(calls[1]?.body?.body, `${marker}\n${summary}`)
  t.notOk(existsSync(join(files.checkout, 'pwned')) || existsSync(join(files.checkout, 'api', 'pwned')))
})

t.test('the comment of an earlier run is updated, and output of the command is no command of the runner', async (t) => {
  const other = { id: 3, body: 'other', user: bot }
  const { url, calls } = await startApi(t, [other, { id: 4, body: `${marker}\nold`, user: bot }])
  const files = checkOut(t, documentOf('string'), documentOf('string'), printing('### No changes of `openapi.yaml`', 0))
  const { code, failed, log } = await runSteps(files, inputs, url, event)
  t.same([code, failed], [0, 'false'], log)
  t.match(log, /^::stop-commands::(\S+)\n::set-output name=failed::no\n\n::\1::$/m)
  t.match(calls[1], {
    method: 'PATCH',
    url: '/repos/owner/boxes/issues/comments/4',
    body: { body: `${marker}\n### No changes of \`openapi.yaml\`\n` },
  })
})

t.test('fail-on none fails for no change, and without the permission to comment there is a warning', async (t) => {
  const { url, calls } = await startApi(t, [], 403)
  const files = checkOut(t, documentOf('string'), documentOf('integer'), printing('### Changes of `a`: 1 breaking', 0))
  const { code, log } = await runSteps(files, { ...inputs, 'fail-on': 'none' }, url, event)
  t.same([code, calls.length], [0, 2], log)
  t.match(log, /^::warning::there is no comment, .* got 403; .*pull-requests: write/m)
  const busy = await startApi(t, [], 429)
  const again = await runSteps(files, { ...inputs, 'fail-on': 'none' }, busy.url, event)
  const warning = /^::warning::there is no comment, .*: POST of the comment got 429; run the job again$/m
  t.match(again, { code: 0, log: warning })
})

t.test('a base is fetched by name, and a document that it does not have has no changes', async (t) => {
  const { url, calls } = await startApi(t, [])
  const files = checkOut(t, undefined, documentOf('string'), printing('', 2))
  const base = await runSteps(files, { ...inputs, base: 'unknown' }, url, {})
  t.match(base.log, /^::error::git cannot fetch the base; check out with "fetch-depth: 2"/m)
  const option = await runSteps(files, { ...inputs, base: '--upload-pack=x' }, url, {})
  t.match(option, { code: 1, log: /^::error::base is "--upload-pack=x"; name a branch/m })
  const none = await runSteps(files, inputs, url, {})
  t.match(none, { code: 1, log: /^::error::the event has no pull request; name what to compare with/m })
  const severity = await runSteps(files, { ...inputs, 'fail-on': 'all' }, url, event)
  t.match(severity, { code: 1, log: /^::error::fail-on is "all"/m })
  const added = await runSteps(files, inputs, url, event)
  t.match(added, { code: 0, summary: /^### The base has no such document/ }, added.log)
  t.same(
    calls.map(({ method }) => method),
    ['GET'],
    'there is nothing to comment',
  )
  const broken = await runSteps(files, { ...inputs, base: hostile }, url, event)
  t.match(broken, { code: 1, log: /^::error::fastify-contract changes failed with exit code 2/m })
})

const workflow = `name: API
on: pull_request
permissions: {}
jobs:
  changes:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: read
      pull-requests: write
    steps:
      - uses: actions/checkout@v6
        with: { fetch-depth: 2 }
      - uses: ./
        with: { document: openapi.yaml, fail-on: none }
`
const skip = (await runTool('actionlint', '-version'))?.code === 0 ? false : 'NOT RUN: actionlint is not installed'

t.test('actionlint accepts a workflow with the action, and knows its inputs', { skip }, async (t) => {
  const directory = t.testdir({
    '.github': { workflows: { 'api.yaml': workflow } },
    'action.yaml': readFileSync('action.yaml', 'utf8'),
  })
  execFileSync('git', ['init', '--quiet'], { cwd: directory })
  const lint = () => spawnProcess(['actionlint'], { cwd: directory }).untilEnded(120_000)
  t.match(await lint(), { code: 0, stdout: '' })
  writeFileSync(
    join(directory, '.github/workflows/api.yaml'),
    workflow.replace('document: openapi.yaml', 'file: openapi.yaml'),
  )
  t.match(await lint(), {
    code: 1,
    stdout:
      /"file" is not defined in action.*missing input "document"|missing input "document".*"file" is not defined/s,
  })
})
