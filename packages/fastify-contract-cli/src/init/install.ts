import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { PackageManager } from './package-manager.ts'

/**
 * Installs the packages of a project, and returns whether that succeeded. The output of the package manager goes to
 * stderr; after a failure, so does what to do, and the exit code of this process is 1.
 */
export async function install(manager: PackageManager, directory: string): Promise<boolean> {
  process.stderr.write(`init: installing the packages of ${directory} with ${manager}\n`)
  const args = ['install', ...(manager === 'npm' ? ['--no-audit', '--no-fund'] : [])]
  const child = spawn(manager, args, { cwd: directory, stdio: ['ignore', 2, 2] })
  const problem = await once(child, 'exit').then(
    ([code, signal]) => (code === 0 ? undefined : `${signal ?? code}`),
    ({ message }: Error) => message,
  )
  if (problem === undefined) return true
  process.stderr.write(
    `init: ${manager} install failed in ${directory} (${problem}); correct its cause, and run it there again\n`,
  )
  process.exitCode = 1
  return false
}
