import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Installs a version of Node, such as 24 or 22.14.0, from the npm package "node" into a directory. Its install script
 * selects the binary of the platform. Returns the exit code of npm, and an environment for commands that use this Node.
 */
export async function installNode(
  version: string,
  directory: string,
): Promise<{ code: number; env: NodeJS.ProcessEnv }> {
  const tools = join(directory, 'tools')
  await mkdir(tools, { recursive: true })
  await writeFile(join(tools, 'package.json'), '{"allowScripts":{"node":true}}')
  const code = await runNpm(['install', '--no-save', `node@${version}`], { cwd: tools })
  const bin = join(tools, 'node_modules', 'node', 'bin')
  return { code, env: { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) } }
}

/** Runs npm and returns its exit code. */
export async function runNpm(args: string[], options: SpawnOptions): Promise<number> {
  const child = spawn('npm', args, { stdio: 'inherit', ...options })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
