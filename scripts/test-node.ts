import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'

// Does not use commandLine, because the arguments of npm test are not known here.
const help = `npm run test:node -- VERSION [ARGUMENTS OF npm test]

Runs the tests on another version of Node: 24, or 22.14.0. A temporary directory gets that Node, from the npm package
"node", and a copy of the project, in which npm ci and npm test run. Packages with native code are compiled with the
headers of that Node where they have no prebuilt binary.
`

/** The names of build results and of files that belong to one machine, which are not copied. */
const leftOut = ['node_modules', 'dist', 'data', 'secrets', '.tap', '.git']

const [version = '', ...args] = process.argv.slice(2)
if (/^\d+(\.\d+){0,2}$/.test(version)) {
  const directory = await mkdtemp(join(tmpdir(), 'test-node-'))
  try {
    // One test runs the service from this directory as another user, which needs access.
    await chmod(directory, 0o711)
    process.exitCode = await testOn(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
} else if (version === '--help' || version === '-h') {
  process.stdout.write(help)
} else {
  console.error('usage: npm run test:node -- VERSION [ARGUMENTS OF npm test], as in npm run test:node -- 24')
  process.exitCode = 1
}

/** Installs Node and the project in a directory and runs the tests. Returns the first exit code that is not 0, or 0. */
async function testOn(directory: string): Promise<number> {
  const tools = join(directory, 'tools')
  const project = join(directory, 'plant-store')
  await mkdir(tools)
  // The install script of the package "node" selects the binary of the platform.
  await writeFile(join(tools, 'package.json'), '{"allowScripts":{"node":true}}')
  const installed = await run(['install', '--no-save', `node@${version}`], { cwd: tools })
  if (installed !== 0) return installed
  await cp('.', project, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) })

  const node = join(tools, 'node_modules', 'node')
  const env = { ...process.env, ...(await headersOf(await withHeaders(node, directory))) }
  env.PATH = [join(node, 'bin'), env.PATH].join(delimiter)
  return (await run(['ci'], { cwd: project, env })) || (await run(['test', '--', ...args], { cwd: project, env }))
}

/**
 * Returns the directory of the Node package whose headers to compile with. For Node 24.19 and later it is an earlier
 * package with the same ABI: an addon compiled with the headers of these versions aborts the process when a database is
 * garbage-collected (nodejs/node issue 65446).
 */
async function withHeaders(node: string, directory: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(node, 'package.json'), 'utf8')) as { version: string }
  const [major, minor] = version.split('.').map(Number) as [number, number]
  if (major !== 24 || minor < 19) return node
  const headers = join(directory, 'headers')
  await mkdir(headers)
  await writeFile(join(headers, 'package.json'), '{"allowScripts":{"node":true}}')
  await run(['install', '--no-save', 'node@24.18.1'], { cwd: headers })
  return join(headers, 'node_modules', 'node')
}

/** Returns the environment variable that tells node-gyp where the headers are: next to the platform's binary. */
async function headersOf(node: string): Promise<Record<string, string>> {
  const packages = join(node, 'node_modules')
  const names = await readdir(packages).catch(() => [])
  const platform = names.find((name) => existsSync(join(packages, name, 'include', 'node')))
  return platform === undefined ? {} : { npm_config_nodedir: join(packages, platform) }
}

async function run(args: string[], options: SpawnOptions): Promise<number> {
  const child = spawn('npm', args, { ...options, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
