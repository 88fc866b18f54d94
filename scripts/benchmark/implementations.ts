import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { freePort } from 'fastify-contract-test-support/free-port'
import { bundle, serverBundle } from '../build/bundle.ts'
import { installNode } from '../system/install-node.ts'
import { childSeconds, residentBytes, voluntarySwitches } from '../system/process-usage.ts'
import { createdPlant, documentOf, firstId, templates, token } from './requests.ts'

/** The implementations by key, in the order of the page: the name of each, and what it is. */
export const implementations = {
  fastify: ['Fastify', 'handwritten routes, each with schemas of its own; a hook for the token'],
  'node-http': ['node:http', 'handwritten; checks each property by hand'],
  queue: ['Fastify, queue', 'in each turn of the event loop, reads all connections before it responds'],
  'bearer-auth': ['Fastify, bearer-auth', 'with @fastify/bearer-auth, used as its README says'],
  glue: ['glue', 'fastify-openapi-glue with the same document, used as its README says'],
  service: ['this service', 'the plant store without an access log; for other documents, its engine'],
  log: ['with access log', 'the plant store with a log line for each request, to `/dev/null`'],
  before: ['before', 'another build, with `--before`'],
} as const
export type Implementation = keyof typeof implementations

/** What a process serves: the plant store in memory or in SQLite, or the document with that many operations. */
export type Served = 'plants' | 'sqlite' | number

/** A directory with everything that runs on one version of Node, and the environment in which `node` is that Node. */
export type Installation = { env: NodeJS.ProcessEnv; version: string; directory: string }

/** Returns an empty installation for a version of Node, which is fetched if necessary. */
export async function installationFor(wanted: string): Promise<Installation> {
  const isOwn = `${process.versions.node}.`.startsWith(`${wanted}.`)
  const directory = resolve('dist', 'benchmark', `node-${wanted}`)
  await mkdir(directory, { recursive: true })
  const env = isOwn ? process.env : await installOther(wanted, directory)
  const { stdout } = spawnSync('node', ['-p', 'process.versions.node'], { env, encoding: 'utf8' })
  return { env, version: stdout.trim(), directory }
}

/**
 * Prepares the servers in dist/benchmark: the bundle of the service, the peers, and the generated files of documents with
 * the given numbers of operations.
 */
export async function installServers({ env, directory }: Installation, documents: number[]): Promise<void> {
  await cp('generated', join(directory, 'generated'), { recursive: true })
  await bundle(join(directory, 'dist'))
  const entries = (...names: string[]) => ({
    entryPoints: names.map((name) => join('scripts', 'benchmark', 'peers', `${name}.ts`)),
    outdir: join(directory, 'peers'),
    outExtension: { '.js': '.mjs' },
  })
  await build({ ...serverBundle, ...entries('engine') })
  const ofPeers = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const
  await build({ ...ofPeers, ...entries('node-http', 'fastify', 'glue') })
  for (const operations of documents) {
    const { status, output } = await generate(documentOf(operations), join(directory, String(operations)), env)
    if (status !== 0) throw new Error(`npm run generate failed: ${output}`)
  }
}

/** Generates the files of a document into a directory. Returns the status of the command and its CPU in seconds. */
export async function generate(document: object, directory: string, env: NodeJS.ProcessEnv) {
  await mkdir(directory, { recursive: true })
  const [path, rules] = ['document.json', 'redocly.yaml'].map((name) => join(directory, name)) as [string, string]
  await writeFile(path, JSON.stringify(document))
  await writeFile(rules, 'rules: { struct: error }\n')
  const args = ['run', '--silent', 'generate', '--', '--document', path, '--rules', rules, '--out', directory]
  const before = childSeconds()
  const { status, stdout, stderr } = spawnSync('npm', args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { status, seconds: childSeconds() - before, output: stdout + stderr }
}

/** Installs another version of Node. */
async function installOther(version: string, directory: string): Promise<NodeJS.ProcessEnv> {
  const { code, env } = await installNode(version, directory)
  if (code !== 0) throw new Error(`--node ${version}: npm cannot install it`)
  return env
}

/** A running server. */
export type Server = {
  implementation: Implementation
  port: number
  /** Milliseconds from spawn to the first response. */
  startTime: number
  /** The id of the next request. */
  nextId: number
  /** Returns the CPU seconds that all threads of the process have used so far. */
  cpu(): number
  /** Returns how often all threads of the process have waited so far, and so were woken up. */
  wakeUps(): number
  /** Returns the resident memory of the process in MiB. */
  memory(): number
  stop(): Promise<void>
}

/** Returns the file and the environment of an implementation. */
function command(
  implementation: Implementation,
  served: Served,
  { directory }: Installation,
  before: string | undefined,
) {
  const document = typeof served === 'number'
  const path = join(directory, document ? String(served) : 'generated', 'openapi.json')
  const database = join(directory, 'databases', `${crypto.randomUUID()}.db`)
  const peer = (name: string) => join(directory, 'peers', `${name}.mjs`)
  const ofPeer = { DOCUMENT: path, ...(document && { OPERATIONS: String(served) }) }
  const ofService = { ACCESS_LOG: 'off', STORE_URL: served === 'sqlite' ? `sqlite:${database}` : 'memory:' }
  const sqlite = served === 'sqlite' && { SQLITE_FILE: database }
  const commands: Record<Implementation, [file: string, env: object]> = {
    'node-http': [peer('node-http'), ofPeer],
    fastify: [peer('fastify'), { ...ofPeer, ...sqlite }],
    queue: [peer('fastify'), { ...ofPeer, ...sqlite, QUEUE: 'on' }],
    'bearer-auth': [peer('fastify'), { ...ofPeer, BEARER_AUTH: 'on' }],
    glue: [peer('glue'), ofPeer],
    service: document ? [peer('engine'), ofPeer] : [join(directory, 'dist', 'server.js'), ofService],
    log: [join(directory, 'dist', 'server.js'), { ...ofService, ACCESS_LOG: 'on' }],
    before: [join(resolve(before ?? '.'), 'dist', 'server.js'), ofService],
  }
  return commands[implementation]
}

/**
 * Starts a server on the first core and resolves after its first response. Its output, such as an access log, goes to
 * /dev/null. Rejects if that response is not a 200, if the process ends before it, or after 60 s.
 */
export async function start(
  implementation: Implementation,
  served: Served,
  installation: Installation,
  before?: string,
): Promise<Server> {
  const [file, variables] = command(implementation, served, installation, before)
  const [port, managementPort] = [await freePort(), await freePort()]
  await mkdir(join(installation.directory, 'databases'), { recursive: true })
  const env = {
    ...installation.env,
    NODE_ENV: 'production',
    PORT: String(port),
    MANAGEMENT_PORT: String(managementPort),
    ACCESS_TOKENS: token,
    ...variables,
  }
  const begin = performance.now()
  const child = spawn('taskset', ['-c', '0', 'node', file], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const path = typeof served === 'number' ? `/plants${served - 1}` : '/plants'
  while (!(await isResponding())) {
    if (performance.now() - begin > 60_000) throw new Error(`${implementation}: no response within 60 s`)
    if (child.exitCode !== null) throw new Error(`${implementation}: exited with ${child.exitCode} before it responded`)
    await sleep(1)
  }
  return {
    implementation,
    port,
    startTime: performance.now() - begin,
    nextId: firstId,
    cpu: () => cpuSeconds(child.pid as number),
    wakeUps: () => voluntarySwitches(child.pid as number),
    memory: () => residentBytes(child.pid as number) / 2 ** 20,
    async stop() {
      process.off('exit', kill)
      kill()
      await ended
    },
  }

  async function isResponding(): Promise<boolean> {
    const response = await send(port, path, '{"id":1,"name":"first"}')
    // A busy machine can delay the event loop so that the service sheds its first request.
    if (response === undefined || response.status === 503) return false
    if (response.status === 200) return true
    throw new Error(`${implementation}: the first response is ${response.status}: ${response.text}`)
  }
}

/** Returns the CPU seconds of all threads of a process: the first number of schedstat, which is in nanoseconds. */
function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  return times.reduce((sum, time) => sum + Number(time), 0) / 1e9
}

type Response = { status: number; text: string }

/** Sends a request on a new connection. Returns undefined if the connection is refused. */
function send(
  port: number,
  path: string,
  body?: string,
  sent: string | undefined = token,
): Promise<Response | undefined> {
  const headers = { authorization: `Bearer ${sent}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode as number, text })
    })
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(undefined)
      else reject(error)
    })
    outgoing.end(body)
  })
}

/**
 * Asserts that a server does all of the work: it stores plants, and rejects taken ids, invalid bodies and wrong tokens.
 * With a document it also counts a batch and returns the lists, exact to the last digit. Rejects with the first wrong
 * response.
 */
export async function assertWorks(
  { implementation, port }: Pick<Server, 'implementation' | 'port'>,
  served: Served,
): Promise<void> {
  const bodyOf = (template: string) => template.slice(template.indexOf('\r\n\r\n') + 4).replace('{id}', '2')
  const path = served === 'plants' || served === 'sqlite' ? '/plants' : '/plants0'
  const check = async (
    what: string,
    isCorrect: (response: Response) => boolean,
    ...sent: [path: string, body?: string, token?: string]
  ) => {
    const response = await send(port, ...sent)
    if (response !== undefined && isCorrect(response)) return
    throw new Error(`${implementation} responds to ${what} with ${response?.status}: ${response?.text.slice(0, 200)}`)
  }
  const is =
    (expected: number, part = '') =>
    ({ status, text }: Response) =>
      status === expected && text.includes(part)
  const isRefusal = ({ status }: Response) => status >= 400 && status < 500
  const isPlant = ({ status, text }: Response) => status === 200 && text === createdPlant
  const plant = bodyOf(templates.plant)
  await check('a plant', isPlant, path, plant)
  await check('the same plant', isPlant, path, plant)
  await check('another plant of that id', is(409), path, '{"id":2,"name":"another"}')
  await check('a body that is not JSON', isRefusal, path, '{"id":3,"name":"a"')
  await check('an id that is not an integer', isRefusal, path, '{"id":12.5,"name":"a"}')
  await check('a plant without a name', isRefusal, path, '{"id":4}')
  await check('a wrong token', is(401), path, plant, `${token}x`)
  if (path === '/plants') return
  const batch = bodyOf(templates.batchOf16KiB)
  await check('a batch', is(200, `"count":${JSON.parse(batch).length}`), '/batches', batch)
  await check('a batch with a wrong item', isRefusal, '/batches', batch.replace('1.25', '"high"'))
  await check('a list', is(200, '{"id":1000,'), '/lists?after=1')
  await check('a list of large ids', is(200, '{"id":9100000000000999,'), '/exact-lists?after=1')
}

/** Removes the databases of an installation. */
export const removeDatabases = ({ directory }: Installation): Promise<void> =>
  rm(join(directory, 'databases'), { recursive: true, force: true })
