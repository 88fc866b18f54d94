import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { packages, writePackages } from '../../scripts/build/packages.ts'
import { commandLine } from '../../scripts/system/command-line.ts'
import { documentText, handwrittenFiles, scripts } from './project-files.ts'
import { type Project, run, runProject, writeFiles } from './project-steps.ts'

const { options } = commandLine(
  `.ci/nightly projects [--node VERSIONS] [--only PATTERN] [--jobs N] [--write] [--keep]

Installs the packed packages in projects outside of this repository: one that init writes and one by hand, with
TypeScript 5.9, 6 and 7, by npm and pnpm, and with other layouts of node_modules, in workspaces, and beside other
versions of the packages that the commands use. In each project it compiles, generates, tests and starts the service,
and changes a handler while dev runs. Expects no warning of an installation, and the same messages of dev from each
TypeScript. Prints a line for each project, and exits with 1 if one fails.

--node VERSIONS  versions of Node, separated by commas; the npm package "node" brings them (default: the running one)
--only PATTERN   only projects whose lines match the regular expression
--jobs N         the number of projects to run at the same time (default: 1)
--write          add the results to those in dist/projects.json, and write all of them into docs/tested.md
--keep           keep the directories of projects that fail
`,
  { node: process.versions.node, only: '', jobs: 1, write: false, keep: false },
)

const typescripts = ['5.9.3', '6.0.3', '7.0.2']
const pnpmVersion = '12.21.0'

/** The layouts of node_modules, with what npm and pnpm need for them. */
const layouts = {
  default: { install: [], settings: '' },
  nested: { install: ['--install-strategy=nested'], settings: '' },
  hoisted: { install: [], settings: 'nodeLinker: hoisted\n' },
  workspace: { install: [], settings: '' },
}

/** Versions of packages that the commands use, which a project may have otherwise. */
const otherTools = { '@redocly/cli': '1.34.5', esbuild: '0.25.0', tsx: '4.19.0', yaml: '1.10.2' }

type Manager = Project['manager']

type Cell = {
  node: string
  typescript: string
  manager: Manager
  kind: 'init' | 'by hand'
  layout: keyof typeof layouts
  tools?: Record<string, string>
}

/** The outcomes of projects, by their names. */
type Results = Record<string, Result>

type Result = Cell & { outcome: 'passed' | 'failed' }

const directory = mkdtempSync(join(tmpdir(), 'projects-'))
process.on('exit', () => {
  if (!options.keep) rmSync(directory, { recursive: true, force: true })
})

// A project must see neither the commands of this repository nor the settings of the npm that runs this.
const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_|^INIT_CWD$/.test(name))
const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes('node_modules'))
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(inherited),
  PATH: path.join(delimiter),
  CI: 'true',
  FORCE_COLOR: '0',
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

const [engine = '', commands = ''] = packages
const tarballs: Record<string, string> = {}
await writePackages(join(directory, 'packages'))
for (const name of [engine, commands]) {
  const folder = join(directory, 'packages', name)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  await run({ directory: folder, env: environment }, ['npm', 'pack', '--silent', '--pack-destination', directory])
  tarballs[name] = `file:${join(directory, `${name}-${version}.tgz`)}`
}
/** The settings for a project by hand, as the page of the engine has them. */
const overrides = { 'light-my-request': { cookie: '1.1.1' } }
const pnpmSettings = `allowBuilds:
  esbuild: false
  core-js: false
  protobufjs: false
overrides:
  light-my-request>cookie: 1.1.1
  pino-pretty>strip-json-comments: 5.0.3
  ${engine}: ${tarballs[engine]}
`

const pnpm = await binaries('pnpm', pnpmVersion)
const nodes = new Map<string, NodeJS.ProcessEnv>()
for (const version of options.node.split(',')) {
  const env = await environmentOf(version)
  nodes.set((await run({ directory, env }, ['node', '--version'])).trim().slice(1), env)
}
const initializers = { npm: await initializer('npm'), pnpm: await initializer('pnpm') }

const resultsFile = join('dist', 'projects.json')
/** What dev printed for each kind of project, which is the same for each TypeScript. */
const messages = new Map<string, string>()
const queue = cells()
await Promise.all(Array.from({ length: options.jobs }, runQueue))
for (const [kind, text] of messages) process.stdout.write(`\nMessages of dev, ${kind}:\n${text}\n`)

/** Runs projects of the queue until it is empty. */
async function runQueue(): Promise<void> {
  for (let cell = queue.next().value; cell !== undefined; cell = queue.next().value) {
    const name = nameOf(cell)
    if (!new RegExp(options.only).test(name)) continue
    const start = performance.now()
    const problem = await runCell(cell).catch(({ message }: Error) => message)
    if (problem !== undefined) process.exitCode = 1
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    process.stdout.write(`${name}: ${problem ?? 'passed'}, ${seconds} s\n`)
    if (options.write) writeResult(name, { ...cell, outcome: problem === undefined ? 'passed' : 'failed' })
  }
}

/** Yields the projects: each TypeScript on each Node by both managers, and all others on the last Node. */
function* cells(): Generator<Cell, undefined> {
  const [last = ''] = [...nodes.keys()].reverse()
  for (const node of nodes.keys())
    for (const manager of ['npm', 'pnpm'] as const)
      for (const typescript of typescripts) yield { node, typescript, manager, kind: 'init', layout: 'default' }
  for (const manager of ['npm', 'pnpm'] as const) {
    for (const typescript of typescripts) yield { node: last, typescript, manager, kind: 'by hand', layout: 'default' }
    const [, , typescript = ''] = typescripts
    const others = { node: last, typescript, manager, kind: 'init' } as const
    yield { ...others, layout: manager === 'npm' ? 'nested' : 'hoisted' }
    yield { ...others, layout: 'workspace' }
    yield { ...others, kind: 'by hand', layout: 'default', tools: otherTools }
  }
  return undefined
}

function nameOf({ node, typescript, manager, kind, layout, tools }: Cell): string {
  const version = manager === 'npm' ? 'npm' : `pnpm ${pnpmVersion}`
  return `Node ${node}, ${version}, TypeScript ${typescript}, ${kind}, ${layout}${tools === undefined ? '' : ', other tools'}`
}

/** Makes and runs a project. Returns the problem; undefined if there is none. */
async function runCell(cell: Cell): Promise<string | undefined> {
  const { node, manager, kind, layout, typescript } = cell
  const root = mkdtempSync(join(directory, 'project-'))
  const isMember = layout === 'workspace'
  const own = isMember ? join(root, 'services', 'pets') : root
  const env = nodes.get(node) as NodeJS.ProcessEnv
  writeFiles(root, { 'openapi.yaml': documentText, ...(isMember && workspaceFiles(manager)) })
  mkdirSync(own, { recursive: true })
  if (kind === 'init') await initializers[manager](join(root, 'openapi.yaml'), own, env)
  else writeFiles(own, handwritten(cell))
  setVersion(own, typescript)
  const { install, settings } = layouts[layout]
  if (settings !== '') writeFileSync(join(own, 'pnpm-workspace.yaml'), settings, { flag: 'a' })
  const printed = await runProject({ directory: own, root, manager, install, env })
  const known = messages.get(kind) ?? printed
  messages.set(kind, known)
  if (printed !== known) return `dev printed other messages than in the projects before:\n${printed}`
  rmSync(root, { recursive: true })
  return undefined
}

/** Returns the files of the root of a workspace. */
function workspaceFiles(manager: Manager): Record<string, string> {
  const manifest = { name: 'root', private: true }
  return manager === 'pnpm'
    ? { 'package.json': JSON.stringify(manifest), 'pnpm-workspace.yaml': `packages: [services/*]\n${pnpmSettings}` }
    : {
        'package.json': JSON.stringify({
          ...manifest,
          workspaces: ['services/*'],
          overrides,
          allowScripts: { esbuild: false },
        }),
      }
}

/** Returns the files of a project by hand. */
function handwritten({ manager, tools }: Cell): Record<string, string> {
  return {
    ...handwrittenFiles,
    'package.json': JSON.stringify({
      name: 'pets',
      private: true,
      type: 'module',
      scripts,
      dependencies: { [engine]: tarballs[engine], pino: '^10.4.0', tsx: '^4.23.15', ...tools },
      devDependencies: { [commands]: tarballs[commands], '@types/node': '^20.19.43' },
      // @redocly/cli 1 brings these two.
      ...(manager === 'npm' && { overrides, allowScripts: { esbuild: false, 'core-js': false, protobufjs: false } }),
    }),
    ...(manager === 'pnpm' && { 'pnpm-workspace.yaml': pnpmSettings }),
  }
}

/** Sets the version of TypeScript in the manifest of a project. */
function setVersion(project: string, typescript: string): void {
  const file = join(project, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.devDependencies.typescript = typescript
  writeFileSync(file, JSON.stringify(manifest, null, 2))
}

/**
 * Installs the packages in a directory, as the page of the engine says. Returns a function that runs `init` there, by the
 * package manager.
 */
async function initializer(manager: Manager) {
  const folder = join(directory, `init-${manager}`)
  const env = nodes.values().next().value as NodeJS.ProcessEnv
  writeFiles(folder, {
    'package.json': JSON.stringify({ private: true, dependencies: tarballs }),
    ...(manager === 'pnpm' && { 'pnpm-workspace.yaml': pnpmSettings }),
  })
  await run({ directory: folder, env }, [manager, 'install'])
  const command = manager === 'npm' ? ['npx', '--no-install'] : ['pnpm', 'exec']
  return (document: string, target: string, env: NodeJS.ProcessEnv) =>
    run({ directory: folder, env }, [...command, 'fastify-contract', 'init', document, target])
}

/** Returns the environment for commands that use a version of Node. */
async function environmentOf(version: string): Promise<NodeJS.ProcessEnv> {
  const isRunning = version === process.versions.node
  const parts = [...(isRunning ? [] : [await binaries('node', version)]), pnpm, environment.PATH]
  return { ...environment, PATH: parts.join(delimiter) }
}

/** Installs an npm package that brings a program for the platform, and returns the directory of its commands. */
async function binaries(name: string, version: string): Promise<string> {
  const folder = join(directory, `${name}-${version}`)
  writeFiles(folder, { 'package.json': JSON.stringify({ private: true, allowScripts: { [name]: true } }) })
  await run({ directory: folder, env: environment }, ['npm', 'install', '--no-save', `${name}@${version}`])
  return join(folder, 'node_modules', '.bin')
}

/** Adds a result to those of earlier runs, and writes all into the page between its two comments. */
function writeResult(name: string, result: Result): void {
  mkdirSync('dist', { recursive: true })
  const results: Results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  results[name] = result
  writeFileSync(resultsFile, JSON.stringify(results, null, 2))
  const page = join('docs', 'tested.md')
  const [before = '', , after = ''] = readFileSync(page, 'utf8').split(/^<!-- (?:\/)?projects -->\n/m)
  writeFileSync(page, `${before}<!-- projects -->\n${tables(results)}<!-- /projects -->\n${after}`)
}

function tables(results: Results): string {
  const columns = (['npm', 'pnpm'] as const).flatMap((manager) =>
    typescripts.map((typescript) => ({ manager, typescript })),
  )
  const rows = [...new Set(Object.values(results).map(({ node }) => node))].sort()
  const outcomeOf = (cell: Cell) => results[nameOf(cell)]?.outcome ?? 'not run'
  const matrix = rows.map((node) =>
    [node, ...columns.map((column) => outcomeOf({ node, ...column, kind: 'init', layout: 'default' }))].join(' | '),
  )
  const others = Object.entries(results)
    .filter(([, { kind, layout }]) => kind !== 'init' || layout !== 'default')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    '',
    `| Node | ${columns.map(({ manager, typescript }) => `${manager}, TypeScript ${typescript}`).join(' | ')} |`,
    `|---${'|---'.repeat(columns.length)}|`,
    ...matrix.map((row) => `| ${row} |`),
    '',
    '| other projects | outcome |',
    '|---|---|',
    ...others.map(([name, { outcome }]) => `| ${name} | ${outcome} |`),
    '',
    '',
  ].join('\n')
}
