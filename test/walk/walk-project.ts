import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { defaults } from '../support/child-process.ts'

/** What a change has touched: files, and lines that were added and removed. */
export type Touched = { files: string[]; added: number; removed: number }

/** A copy of the project in which a maintainer works. */
export type WalkProject = {
  directory: string
  /** Runs a command in the copy. Rejects with all that it has written when it fails. */
  run(file: string, ...args: string[]): Promise<void>
  /** Runs a module of a package or of the copy with Node and the loader for TypeScript. */
  node(module: string, ...args: string[]): Promise<void>
  /** Applies a patch of this folder. Rejects when the source has moved from what it expects. */
  patch(name: string): Promise<void>
  /** Returns what was touched since the last call, without what is generated. */
  touched(): Promise<Touched>
  remove(): void
}

/** Copies the project as it is on the disk, without what is built, and links its packages. */
export async function copyProjectTree(): Promise<WalkProject> {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-walk-'))
  const left = new Set(['.git', '.tap', 'node_modules', 'dist', 'data', 'secrets'])
  cpSync('.', directory, { recursive: true, filter: (path) => !left.has(path) && basename(path) !== 'node_modules' })
  // Some tests run the service as another user.
  chmodSync(directory, 0o711)
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'))

  const run = async (file: string, ...args: string[]) => void (await output(file, args))
  async function output(file: string, args: string[]): Promise<string> {
    const env = { ...process.env, ...defaults, REDOCLY_TELEMETRY: 'off', GIT_CONFIG_GLOBAL: '/dev/null' }
    const options = { cwd: directory, env, maxBuffer: 2 ** 28 }
    try {
      return (await promisify(execFile)(file, args, options)).stdout
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${[basename(file), ...args].join(' ')} failed\n${stdout}${stderr}`)
    }
  }
  const commit = async () => {
    const author = ['-c', 'user.name=walk', '-c', 'user.email=walk@localhost']
    await run('git', 'add', '--all')
    await run('git', ...author, 'commit', '--quiet', '--allow-empty', '--message=walk')
  }

  await run('git', 'init', '--quiet')
  await commit()
  return {
    directory,
    run,
    node: (module, ...args) => run(process.execPath, '--import=tsx', module, ...args),
    async patch(name) {
      const file = resolve('test/walk/patches', name)
      if (!existsSync(file)) throw new Error(`${file} is missing`)
      await run('git', 'apply', '--whitespace=error', file)
    },
    async touched() {
      await commit()
      const rows = (await output('git', ['show', '--numstat', '--no-renames', '--format=', 'HEAD'])).trim().split('\n')
      const changes = rows
        .map((row) => row.split('\t'))
        .filter(([, , file = '']) => !file.startsWith('generated/'))
        .map(([added, removed, file = '']) => ({ added: Number(added), removed: Number(removed), file }))
      return {
        files: changes.map(({ file }) => file),
        added: changes.reduce((sum, { added }) => sum + added, 0),
        removed: changes.reduce((sum, { removed }) => sum + removed, 0),
      }
    },
    remove: () => rmSync(directory, { recursive: true }),
  }
}
