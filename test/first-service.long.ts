import { execFile } from 'node:child_process'
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { writePackages } from '../scripts/build/packages.ts'
import { copyProject } from './support/project-copy.ts'

/** The deadline of each step in milliseconds: the machine may be slow under load. */
const limit = 600_000

const document = `openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ name: id, in: path, required: true, schema: { type: integer, format: int64, example: 7 } }]
      responses:
        '200': { description: A pet, content: { application/json: { schema: {}, example: { name: Tom } } } }
`

// A directory outside of the repository, so that neither Node nor npm can find its packages.
const directory = mkdtempSync(join(tmpdir(), 'first-service-'))
t.teardown(() => rmSync(directory, { recursive: true, maxRetries: 10 }))

// npx keeps its projects beside the packages that npm has downloaded. Only the latter are shared.
const cache = join(directory, 'cache')
mkdirSync(cache)
const { stdout: shared } = await promisify(execFile)('npm', ['config', 'get', 'cache'])
symlinkSync(join(shared.trim(), '_cacache'), join(cache, '_cacache'))

// A command must see neither the commands of this repository nor the settings of the npm that runs this.
const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_|^INIT_CWD$/.test(name))
const programs = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes('node_modules'))
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(inherited),
  FORCE_COLOR: '0',
  XDG_CACHE_HOME: cache,
  npm_config_cache: cache,
  npm_config_prefer_offline: 'true',
  npm_config_update_notifier: 'false',
  EVENT_LOOP_DELAY_LIMIT: '60000',
}

/** Runs a shell command, with the programs of some directories first, and returns its output; rejects with that. */
async function run(cwd: string, command: string, ...first: string[]): Promise<string> {
  const env = { ...environment, PATH: [...first, ...programs].join(delimiter) }
  const options = { cwd, env, timeout: limit, maxBuffer: 2 ** 26 }
  const { stdout, stderr } = await promisify(execFile)('bash', ['-ec', command], options).catch((error) => {
    throw new Error(`${command} failed\n${error.stdout}${error.stderr}`)
  })
  return stdout + stderr
}

/** Installs a version of a package manager, and returns the directory of its programs. */
async function programOf(name: string, version: string): Promise<string> {
  const folder = join(directory, `${name}-${version}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { [name]: true } }))
  await run(folder, `npm install --no-audit --no-fund --loglevel=error ${name}@${version}`)
  return join(folder, 'node_modules', '.bin')
}

/** A warning, except of settings of this machine. */
const warning = /\bwarn\b(?! Unknown (?:user|env) config)/i

const tarball = 'fastify-contract-cli-0.1.0.tgz'
await writePackages(join(directory, 'dist'))
for (const name of ['fastify-contract-cli', 'create-fastify-contract'])
  await run(join(directory, 'dist', name), `npm pack --silent --pack-destination ${directory}`)

/** The files of a release, as a server has them. */
const server = createServer((_request, response) => createReadStream(join(directory, tarball)).pipe(response))
await promisify((done: () => void) => server.listen(0, '127.0.0.1', done))()
t.teardown(() => server.close())
const release = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** The commands of the section "Start" of the engine's page. */
const [, section = ''] = readFileSync('packages/fastify-contract/README.md', 'utf8').split('\n## Start\n')
const [fromClone = '', fromRelease = '', fromFile = ''] = Array.from(
  (section.split('\n## ')[0] as string).matchAll(/^```sh\n(.*?)^```$/gms),
  ([, text = '']) => text,
)

/** Makes a directory with a document. */
function directoryFor(name: string): string {
  const folder = join(directory, 'users', name.replace(/\W+/g, '-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'openapi.yaml'), document)
  return folder
}

/**
 * Copies a project without what is installed, as a container does, installs it with nothing but npm, starts it, and calls
 * an operation.
 */
async function checkProject(t: Test, project: string, manager = 'npm', ...first: string[]) {
  t.ok(existsSync(join(project, 'node_modules', 'fastify-contract')), 'it is installed')
  const copy = mkdtempSync(join(directory, 'copy-'))
  cpSync(project, copy, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
  if (manager === 'npm') {
    const { packages } = JSON.parse(readFileSync(join(copy, 'package-lock.json'), 'utf8'))
    for (const name of ['fastify-contract', 'fastify-contract-cli'])
      t.match(packages[`node_modules/${name}`], { resolved: `file:vendor/${name}-0.1.0.tgz`, integrity: /^sha512-/ })
    t.notMatch(await run(copy, 'npm ci --no-audit --no-fund', ...first), warning)
  } else t.notMatch(await run(copy, 'pnpm install --frozen-lockfile', ...first), warning)
  await run(copy, 'node_modules/.bin/fastify-contract generate --check && node_modules/.bin/tsc', ...first)
  const port = await freePort()
  const service = spawnProcess(['npm', 'start'], {
    cwd: copy,
    detached: true,
    env: { ...environment, PORT: String(port), MANAGEMENT_PORT: '0' },
  })
  t.teardown(() => service.signal('SIGKILL'))
  const answer = () => fetch(`http://127.0.0.1:${port}/pets/7`, { headers: { connection: 'close' } })
  const response = await until(
    () => answer().catch(() => undefined),
    () => JSON.stringify(service.output),
    limit,
  )
  t.same([response.status, await response.text()], [200, '{"name":"Tom"}'])
  await service.stop()
}

const oldNode = Number.parseInt(process.versions.node, 10) < 22

for (const version of ['10', '11', '12'])
  t.test(
    `npx of npm ${version} creates a service from the package, and from its URL`,
    { timeout: limit * 4 },
    async (t) => {
      if (version === '12' && oldNode) return t.comment('NOT RUN: npm 12 needs Node 22.22')
      const npm = await programOf('npm', version)
      for (const [kind, commands] of Object.entries({ file: fromFile, release: fromRelease })) {
        const folder = directoryFor(`npm ${version} ${kind}`)
        if (kind === 'file') cpSync(join(directory, tarball), join(folder, tarball))
        const [init = '', ...others] = commands.trim().split('\n')
        t.same(others, ['cd pets', 'npm start'])
        const printed = await run(folder, init.replace('RELEASE', release), npm)
        t.match(printed, /\nNext:\n {2}cd pets\n {2}npm start\n/)
        t.notMatch(printed, /install-scripts|deprecated/)
        // Only a project can say which version of cookie Fastify gets on Node 20.
        if (!oldNode) t.notMatch(printed, warning)
        await checkProject(t, join(folder, 'pets'), 'npm', npm)
      }
    },
  )

for (const version of ['10', '12'])
  t.test(
    `pnpm ${version} dlx creates a service from the package, and from its URL`,
    { timeout: limit * 4 },
    async (t) => {
      const pnpm = await programOf('pnpm', version)
      for (const [kind, commands] of Object.entries({ file: fromFile, release: fromRelease })) {
        const folder = directoryFor(`pnpm ${version} ${kind}`)
        if (kind === 'file') cpSync(join(directory, tarball), join(folder, tarball))
        const [init = ''] = commands.replace('RELEASE', release).split('\n')
        await run(folder, init.replace(/^npx --yes( --allow-remote=\w+)?/, 'pnpm dlx'), pnpm)
        await checkProject(t, join(folder, 'pets'), 'pnpm', pnpm)
      }
    },
  )

t.test(
  'npm run init creates a service from a clone, for a document where npm was called',
  { timeout: limit * 2 },
  async (t) => {
    const clone = copyProject(t)
    const folder = directoryFor('clone')
    const [init = '', ...others] = fromClone.trim().split('\n')
    t.same(others, ['cd ../pets', 'npm start'])
    // npm keeps what it is called with: a relative path is not that of the clone.
    const called = init.replace('npm run', `npm --prefix ${clone} run`).replaceAll('../', '')
    const printed = await run(folder, called)
    t.match(printed, /\ninit: building fastify-contract and fastify-contract-cli\n/)
    t.match(printed, /\nNext:\n {2}cd pets\n {2}npm start\n/)
    await checkProject(t, join(folder, 'pets'))
    const failed = await run(folder, called.replace('openapi.yaml', 'none.yaml')).catch(({ message }: Error) => message)
    t.match(failed, /\ninit: none\.yaml does not exist/)
  },
)

t.test('create-fastify-contract runs init --install', { timeout: limit * 2 }, async (t) => {
  const folder = directoryFor('create')
  const packages = [tarball, 'create-fastify-contract-0.1.0.tgz'].map((name) => `--package=${join(directory, name)}`)
  const printed = await run(folder, `npx --yes ${packages.join(' ')} create-fastify-contract openapi.yaml pets`)
  t.match(printed, /\nNext:\n {2}cd pets\n {2}npm start\n/)
  await checkProject(t, join(folder, 'pets'))
})
