import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from '../system/free-port.ts'
import { until } from '../system/poll.ts'
import { copyData, type DataOptions, initialize } from './data-directory.ts'
import { runServer, type ServerProcess, type StopMode } from './postgres-process.ts'
import { type Directory, makeDirectory } from './postgres-programs.ts'

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
