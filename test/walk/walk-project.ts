import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { defaults } from 'fastify-contract-test-support/child-process'

/** Copies the project from the working tree, without build output, and links its packages. */
export function copyProjectTree() {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-walk-'))
  const left = new Set(['.git', '.tap', 'node_modules', 'dist', 'data', 'secrets'])
  cpSync('.', directory, { recursive: true, filter: (path) => !left.has(path) && basename(path) !== 'node_modules' })
  // Some tests run the service as another user, which must be able to enter the directory.
  chmodSync(directory, 0o711)
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync('node_modules')) {
    // The copy uses its own packages.
    const path = join('node_modules', name)
    const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : resolve(path)
    symlinkSync(target, join(directory, 'node_modules', name))
  }
  symlinkSync(resolve('scripts/postgres/node_modules'), join(directory, 'scripts', 'postgres', 'node_modules'))
  // Without a repository of its own, git would apply patches to nothing.
  execFileSync('git', ['init', '--quiet'], { cwd: directory })
  const env = { ...process.env, ...defaults, REDOCLY_TELEMETRY: 'off', GIT_CONFIG_GLOBAL: '/dev/null' }

  /** Runs a command in the copy. Rejects with all its output when it fails. */
  async function run(file: string, ...args: string[]): Promise<undefined> {
    try {
      await promisify(execFile)(file, args, { cwd: directory, env, maxBuffer: 2 ** 28 })
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${[basename(file), ...args].join(' ')} failed\n${stdout}${stderr}`)
    }
  }
  return {
    directory,
    run,
    /** Runs a module of a package, or of the copy, with Node and the TypeScript loader. */
    node: (module: string, ...args: string[]) => run(process.execPath, '--import=tsx', module, ...args),
    remove: () => rmSync(directory, { recursive: true }),
  }
}
