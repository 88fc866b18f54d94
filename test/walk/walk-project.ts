import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { defaults } from 'fastify-contract-test-support/child-process'

/** Changes of one step: files, and numbers of lines added and removed. */
export type Touched = { files: string[]; added: number; removed: number }

/** A copy of the project, as a maintainer's working directory. */
export type WalkProject = {
  directory: string
  /** Runs a command in the copy. Rejects with all its output when it fails. */
  run(file: string, ...args: string[]): Promise<void>
  /** Runs a module of a package, or of the copy, with Node and the TypeScript loader. */
  node(module: string, ...args: string[]): Promise<void>
  /** Applies a patch from test/walk/patches. Rejects when it does not match the source. */
  patch(name: string): Promise<void>
  /** Returns the changes since the last call, without generated files. */
  touched(): Promise<Touched>
  remove(): void
}

/** Copies the project from the working tree, without build output, and links its packages. */
export async function copyProjectTree(): Promise<WalkProject> {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-walk-'))
  const left = new Set(['.git', '.tap', 'node_modules', 'dist', 'data', 'secrets'])
  cpSync('.', directory, { recursive: true, filter: (path) => !left.has(path) && basename(path) !== 'node_modules' })
  // Some tests run the service as another user, which must be able to enter the directory.
  chmodSync(directory, 0o711)
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync('node_modules')) {
    // The copy uses its own engine.
    const target = name === 'fastify-contract' ? `../packages/${name}` : resolve('node_modules', name)
    symlinkSync(target, join(directory, 'node_modules', name))
  }

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
