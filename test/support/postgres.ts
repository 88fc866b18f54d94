import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { copyData, type DataOptions, initialize } from './postgres-data.ts'
import { freePort, runServer, type ServerProcess, type StopMode } from './postgres-process.ts'
import { type Directory, makeDirectory } from './postgres-programs.ts'
import { until } from './until.ts'

/** The file of the certificate that a server with `tls` shows. */
export const certificate = fileURLToPath(new URL('certificate/server.crt', import.meta.url))

export type PostgresOptions = DataOptions & {
  /** Configuration of the server; fsync is on unless it is given here. */
  settings?: Record<string, string>
  /** Where the directory of its data is made; default: the system's directory for temporary files. */
  parent?: string
}

export type StandbyOptions = {
  /** What it is called in `synchronous_standby_names`. */
  name?: string
  /** Whether commits of the primary wait for it from then on. */
  synchronous?: boolean
}

/**
 * Starts a new server on a free port of 127.0.0.1. It ends with this process at the latest, even when that is killed.
 * Rejects with what the server logged.
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

/** A server of PostgreSQL with its data, which it keeps from a stop to the next start. */
export class Postgres {
  readonly port: number
  /** What the server has written so far. */
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

  /** Resolves when it takes connections, recovered where a stop left that to do. */
  async start(): Promise<void> {
    const { settings, tls = false } = this.#options
    const defaults = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: '',
      ssl: tls ? 'on' : 'off',
      // A standby begins with what was written since its copy was begun.
      wal_keep_size: '1GB',
    }
    this.#process = await runServer(this.#directory, { ...defaults, ...settings }, (text) => {
      this.log += text
    })
  }

  /** Resolves when every process of it has ended. */
  async stop(mode: StopMode): Promise<void> {
    await this.#process?.stop(mode)
    this.#process = undefined
  }

  /** Starts a server with a copy of the data that follows this one; resolves when it does. */
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
      await this.#followed(name, synchronous ? 'sync' : 'async')
    } catch (error) {
      await standby.close()
      throw error
    }
    return standby
  }

  async #followed(name: string, state: 'sync' | 'async'): Promise<void> {
    const sql =
      "SELECT FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming' AND sync_state = $2"
    const isFollowed = async () => (await this.query(sql, [name, state])).length > 0
    await until(isFollowed, `standby ${name} follows its primary, ${state}`, 60_000)
  }

  /** Makes a standby take writes; resolves when it does. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** Gives the rows of one statement. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    return query(this.url(), sql, values)
  }

  /** Stops it and removes its data. */
  async close(): Promise<void> {
    await this.stop('fast')
    await this.#directory.remove()
  }
}

/** Gives the rows of one statement, on a connection of its own. */
export async function query(url: string, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}
