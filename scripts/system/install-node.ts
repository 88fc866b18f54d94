import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Installs a version of Node, such as 24 or 22.14.0, from the npm package "node" into a directory. Returns the exit code
 * of npm, and an environment for commands that use this Node and compile native code with its headers.
 */
export async function installNode(version: string, directory: string) {
  const tools = join(directory, 'tools')
  const code = await installPackage(version, tools)
  if (code !== 0) return { code, env: {} }
  const node = join(tools, 'node_modules', 'node')
  const env = { ...process.env, ...(await headersOf(await withHeaders(node, directory))) }
  env.PATH = [join(node, 'bin'), env.PATH].join(delimiter)
  return { code, env }
}

/** Installs the npm package "node", whose install script selects the binary of the platform. */
async function installPackage(version: string, directory: string): Promise<number> {
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'package.json'), '{"allowScripts":{"node":true}}')
  return await runNpm(['install', '--no-save', `node@${version}`], { cwd: directory })
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
  await installPackage('24.18.1', join(directory, 'headers'))
  return join(directory, 'headers', 'node_modules', 'node')
}

/** Returns the environment variable that tells node-gyp where the headers are: next to the platform's binary. */
async function headersOf(node: string): Promise<NodeJS.ProcessEnv> {
  const packages = join(node, 'node_modules')
  const names = await readdir(packages).catch(() => [])
  const platform = names.find((name) => existsSync(join(packages, name, 'include', 'node')))
  return platform === undefined ? {} : { npm_config_nodedir: join(packages, platform) }
}

/** Runs npm and returns its exit code. */
export async function runNpm(args: string[], options: SpawnOptions): Promise<number> {
  const child = spawn('npm', args, { stdio: 'inherit', ...options })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
