import type { PoolConfig } from 'pg'
import { type ConnectionSettings, hosts, readParameters, text } from '../url-parameters.ts'

export type PostgresSettings = ConnectionSettings & {
  /** The connection settings of each server in the URL. */
  servers: PoolConfig[]
}

/** Matches a URL with servers and a database. Its parameters may still be invalid. */
export const postgresUrl = new RegExp(
  String.raw`^postgres(?:ql)?://(?<user>[^@/?#]+@)?(?<servers>${hosts})(?<database>/[^/?#]+)(?:\?(?<query>[^#]+))?$`,
)

/** The parameters that only this URL has, named as in libpq. */
const own = {
  application_name: text,
  statement_timeout: { pattern: /^\d{1,9}$/, expected: 'a number of milliseconds, 0 for no limit' },
  target_session_attrs: { pattern: /^(primary|read-write)$/, expected: 'primary or read-write' },
}

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`, each part percent-encoded (RFC 3986
 * section 2.1). Returns the settings, with default timeouts where the URL has none. Throws when a parameter is unknown
 * or invalid.
 */
export function readPostgresUrl(url: string): PostgresSettings {
  const parts = (postgresUrl.exec(url) as RegExpExecArray).groups
  const { user = '', servers = '', database = '', query = '' } = parts as Record<string, string | undefined>
  const { given, settings } = readParameters(query, own, 7_000)
  // sslmode has libpq's meaning, not that of older drivers, and is always set, so that the environment has no effect.
  const tls = new URLSearchParams({ uselibpqcompat: 'true', sslmode: 'disable' })
  for (const [name, value] of given) if (name.startsWith('ssl')) tls.set(name, value)
  const pool = {
    application_name: given.get('application_name') ?? 'plant-store',
    connectionTimeoutMillis: settings.connectTimeout,
    statement_timeout: Number(given.get('statement_timeout') ?? 5_000),
    keepAlive: true,
    idleTimeoutMillis: 60_000,
    max: 10,
  }
  const withUrl = (server: string) => ({ connectionString: `postgres://${user}${server}${database}?${tls}`, ...pool })
  return { ...settings, servers: servers.split(',').map(withUrl) }
}
