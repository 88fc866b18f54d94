import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the packages of a folder with a package-lock.json of its own, unless the installed ones are newer than that
 * file. `npm ci` of the project leaves them out, because only some commands need them. Throws if npm fails, whose
 * messages are on stderr.
 */
export function installTools(folder: string): void {
  const [wanted = 0, installed = 0] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs,
  )
  if (installed >= wanted) return
  process.stderr.write(`installing the packages of ${folder}\n`)
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm ci --prefix ${folder} failed; correct its cause, and run the command again`)
}
