import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until, within } from 'fastify-contract-test-support/poll'
import pg from 'pg'
import { chownToServer, type Directory, execute, makeDirectory, program, unprivileged } from './postgres-programs.ts'

/** The path of the certificate of a server with `tls`. */
export const certificate = fileURLToPath(new URL('certificate/server.crt', import.meta.url))

export type PostgresOptions = DataOptions & {
  /** Server configuration; fsync is on by default. */
  settings?: Record<string, string>
  /** The parent of its data directory; default: the system's directory for temporary files. */
  parent?: string
}

export type StandbyOptions = {
  /** The name for `synchronous_standby_names`. */
  name?: string
  /** Whether commits of the primary wait for the standby. */
  synchronous?: boolean
}

/**
 * Starts a new server on a free port of 127.0.0.1. It ends with this process, even after SIGKILL. Rejects with the log
 * of the server if it does not start.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const directory = makeDirectory(options.parent)
  const server = new Postgres(directory, await freePort(), options)
  try {
    await initialize(directory.data, options)
    await server.start()
  } catch (error) {
    await directory.remove()
    throw error
  }
  return server
}

/** A PostgreSQL server, whose data persists from a stop to the next start. */
export class Postgres {
  readonly port: number
  /** The log of the server so far. */
  log = ''
  readonly #directory: Directory
  readonly #options: PostgresOptions
  #process: ServerProcess | undefined

  constructor(directory: Directory, port: number, options: PostgresOptions) {
    this.#directory = directory
    this.port = port
    this.#options = options
  }

  url(database = 'postgres'): string {
    const { password } = this.#options
    return `postgres://postgres${password === undefined ? '' : `:${password}`}@127.0.0.1:${this.port}/${database}`
  }

  /** Starts the server; resolves when it accepts connections, after crash recovery if necessary. */
  async start(): Promise<void> {
    const { settings, tls = false } = this.#options
    const defaults = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: '',
      // In the data directory: POSIX shared memory would stay behind after SIGKILL.
      dynamic_shared_memory_type: 'mmap',
      ssl: tls ? 'on' : 'off',
      // A new standby needs the log written since its copy began.
      wal_keep_size: '1GB',
    }
    this.#process = await runServer(this.#directory, { ...defaults, ...settings }, (text) => {
      this.log += text
    })
  }

  /** Stops the server; resolves when every process of it has ended. */
  async stop(mode: StopMode): Promise<void> {
    await this.#process?.stop(mode)
    this.#process = undefined
  }

  /** Starts a standby from a copy of the data; resolves when it streams from this server. */
  async standby({ name = 'standby', synchronous = false }: StandbyOptions = {}): Promise<Postgres> {
    const directory = makeDirectory(this.#options.parent)
    const settings = { ...this.#options.settings, synchronous_standby_names: '' }
    const standby = new Postgres(directory, await freePort(), { ...this.#options, settings })
    try {
      await copyData({ data: this.#directory.data, url: this.url() }, directory.data, name)
      await standby.start()
      if (synchronous) {
        await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
        await this.query('SELECT pg_reload_conf()')
      }
      await this.#untilStreaming(name, synchronous ? 'sync' : 'async')
    } catch (error) {
      await standby.close()
      throw error
    }
    return standby
  }

  async #untilStreaming(name: string, state: 'sync' | 'async'): Promise<void> {
    const sql =
      "SELECT FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming' AND sync_state = $2"
    const isStreaming = async () => (await this.query(sql, [name, state])).length > 0
    await until(isStreaming, `the ${state} standby ${name} to stream`)
  }

  /** Promotes this standby to primary; resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** Executes a statement; returns its rows. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    return query(this.url(), sql, values)
  }

  /** Stops the server and deletes its data. */
  async close(): Promise<void> {
    await this.stop('fast')
    await this.#directory.remove()
  }
}

/** Executes a statement on a new connection; returns its rows. */
export async function query(url: string, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const

/** The shutdown modes of PostgreSQL, and `kill`, which sends SIGKILL to the main process. */
export type StopMode = keyof typeof signals

/** A running server; `stop` resolves when every process of it has ended. */
export type ServerProcess = { stop(mode: StopMode): Promise<void> }

/**
 * Runs the server of a data directory; resolves when it accepts connections. Rejects with its log if it ends before
 * that. The server does not keep this process alive.
 */
export async function runServer(
  directory: Directory,
  settings: Record<string, string>,
  onLog: (text: string) => void,
): Promise<ServerProcess> {
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(program('postgres'), ['-D', directory.data, ...args], {
    ...unprivileged,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  directory.guard(child.pid)
  // All server processes share the log's pipe, which closes when the last one ends.
  const ended = once(child, 'close').then(() => directory.guard(undefined))
  let log = ''
  const ready = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      onLog(text)
      log += text
      if (/ready to accept (read-only )?connections/.test(log)) resolve()
    })
  })
  const failed = ended.then(() => {
    throw new Error(`PostgreSQL ended: ${log}`)
  })
  await within(Promise.race([ready, failed]), 'PostgreSQL to accept connections')
  const pipe = child.stderr as Socket
  child.unref()
  pipe.unref()
  return {
    async stop(mode) {
      child.ref()
      pipe.ref()
      child.kill(signals[mode])
      await within(ended, `PostgreSQL to end after a ${mode} stop`)
    },
  }
}

export type DataOptions = {
  /** The password of the superuser; default: connections need none. */
  password?: string | undefined
  /** Enables TLS, with a self-signed certificate for localhost and 127.0.0.1. */
  tls?: boolean
}

/** Initializes a data directory with the superuser `postgres`. */
export async function initialize(data: string, { password, tls = false }: DataOptions): Promise<void> {
  await copyWithOwner([await template(password)], data)
  if (tls) await certify(data)
}

async function initdb(data: string, password?: string): Promise<void> {
  const file = `${data}.password`
  if (password !== undefined) {
    await writeFile(file, `${password}\n`)
    chownToServer(file)
  }
  const auth = password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${file}`]
  // --no-sync concerns only the new files: the server itself syncs what it commits.
  const args = ['--no-sync', '--encoding=UTF8', '--locale=C', '--username=postgres', ...auth]
  await execute(program('initdb'), [`--pgdata=${data}`, ...args])
  await rm(file, { force: true })
}

const made = new Map<string | undefined, Promise<string>>()

/** Returns a data directory to copy, which takes a third of the time of initdb. */
function template(password: string | undefined): Promise<string> {
  const known = made.get(password) ?? makeTemplate(password)
  made.set(password, known)
  return known
}

async function makeTemplate(password: string | undefined): Promise<string> {
  const [version] = /[\d.]+/.exec(execFileSync(program('initdb'), ['-V'], { ...unprivileged, encoding: 'utf8' })) ?? []
  const name = password === undefined ? version : `${version}-${password}`
  const directory = fileURLToPath(new URL(`../../.tap/postgres/${name}`, import.meta.url))
  if (existsSync(directory)) return directory
  const own = makeDirectory()
  const part = `${directory}-${process.pid}`
  await initdb(own.data, password)
  await mkdir(dirname(directory), { recursive: true })
  await copyWithOwner([own.data], part)
  await own.remove()
  try {
    await rename(part, directory)
  } catch (error) {
    // Another process has made it in the meantime.
    await rm(part, { recursive: true })
    if (!existsSync(directory)) throw error
  }
  return directory
}

/** Copies files and directories with their owners and modes, in a third of the CPU that Node takes. */
async function copyWithOwner(from: string[], to: string): Promise<void> {
  await promisify(execFile)('cp', ['-Rp', ...from, to])
}

/** Installs the certificate under the server's default names; the server refuses a key that others can read. */
async function certify(data: string): Promise<void> {
  for (const name of ['server.key', 'server.crt']) {
    const file = join(data, name)
    await copyFile(new URL(`certificate/${name}`, import.meta.url), file)
    await chmod(file, 0o600)
    chownToServer(file)
  }
}

/** The directories whose contents a backup leaves out. */
const emptyInBackup = ['pg_wal', 'pg_replslot', 'pg_dynshmem']

/** Copies a running server by a base backup and configures the copy as the standby `name`. */
export async function copyData(from: { data: string; url: string }, data: string, name: string): Promise<void> {
  const client = new pg.Client(from.url)
  await client.connect()
  try {
    // The session must stay open: the backup mode ends with it.
    await client.query('SELECT pg_backup_start($1, true)', [name])
    const names = (await readdir(from.data)).filter(
      (name) => !/^postmaster\./.test(name) && !emptyInBackup.includes(name),
    )
    for (const directory of ['', ...emptyInBackup]) await mkdir(join(data, directory), { mode: 0o700 })
    await copyWithOwner(
      names.map((name) => join(from.data, name)),
      data,
    )
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await writeFile(join(data, 'backup_label'), rows[0].labelfile)
  } finally {
    await client.end()
  }
  const primary = `${from.url}?application_name=${name}`
  await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`)
  await writeFile(join(data, 'standby.signal'), '')
  chownToServer(data)
}
