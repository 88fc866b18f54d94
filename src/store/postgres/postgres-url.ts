import type { PoolConfig } from 'pg'

export type PostgresSettings = {
  /** The connection settings of each server in the URL. */
  servers: PoolConfig[]
  /** Milliseconds that a query may take. */
  timeout: number
  /** Whether a server that can lose acknowledged plants is accepted. */
  acceptLoss: boolean
}

const host = String.raw`(?:\[[\da-fA-F:.]+\]|[^@/?#,:[\]]+)(?::\d{1,5})?`

/** Matches a URL with servers and a database. Its parameters may still be invalid. */
export const postgresUrl = new RegExp(
  String.raw`^postgres(?:ql)?://(?<user>[^@/?#]+@)?(?<hosts>${host}(?:,${host})*)(?<database>/[^/?#]+)(?:\?(?<parameters>[^#]+))?$`,
)

const milliseconds = { pattern: /^\d{1,9}$/, expected: 'a number of milliseconds, 0 for no limit' }
const text = { pattern: /./, expected: 'any text that is not empty' }
const file = { pattern: /./, expected: 'the path of a file' }

/** The parameters of the URL, named as in libpq where it has them (postgresql.org/docs/current/libpq-connect.html). */
const known = new Map<string, { pattern: RegExp; expected: string }>(
  Object.entries({
    sslmode: {
      pattern: /^(disable|require|verify-ca|verify-full)$/,
      expected: 'disable, require, verify-ca or verify-full',
    },
    sslrootcert: file,
    sslcert: file,
    sslkey: file,
    application_name: text,
    connect_timeout: { pattern: /^[1-9]\d{0,5}$/, expected: 'a number of seconds, at least 1' },
    statement_timeout: milliseconds,
    query_timeout: { pattern: /^[1-9]\d{0,8}$/, expected: 'a number of milliseconds, at least 1' },
    target_session_attrs: { pattern: /^(primary|read-write)$/, expected: 'primary or read-write' },
    accept_data_loss: { pattern: /^(true|false)$/, expected: 'true or false' },
  }),
)

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`, each part percent-encoded (RFC 3986
 * section 2.1). Returns the settings, with default timeouts where the URL has none. Throws when a parameter is unknown
 * or invalid.
 */
export function readPostgresUrl(url: string): PostgresSettings {
  const parts = (postgresUrl.exec(url) as RegExpExecArray).groups
  const { user = '', hosts = '', database = '', parameters = '' } = parts as Record<string, string | undefined>
  // URLSearchParams decodes a plus as a space, and libpq does not.
  const given = new Map(new URLSearchParams(parameters.replaceAll('+', '%2B')))
  for (const [name, value] of given) {
    const parameter = known.get(name)
    if (parameter === undefined)
      throw new Error(`unknown parameter ${name}; expected one of ${[...known.keys()].join(', ')}`)
    if (!parameter.pattern.test(value)) throw new Error(`${name} is "${value}"; expected ${parameter.expected}`)
  }
  // sslmode has libpq's meaning, not that of older drivers, and is always set, so that the environment has no effect.
  const tls = new URLSearchParams({ uselibpqcompat: 'true', sslmode: 'disable' })
  for (const [name, value] of given) {
    if (!name.startsWith('ssl')) continue
    if (!given.has('sslmode')) throw new Error(`${name} requires sslmode; expected ${known.get('sslmode')?.expected}`)
    tls.set(name, value)
  }
  const number = (name: string, otherwise: number) => Number(given.get(name) ?? otherwise)
  const servers = hosts.split(',').map((host) => ({
    connectionString: `postgres://${user}${host}${database}?${tls}`,
    application_name: given.get('application_name') ?? 'plant-store',
    connectionTimeoutMillis: number('connect_timeout', 3) * 1_000,
    statement_timeout: number('statement_timeout', 5_000),
    keepAlive: true,
    idleTimeoutMillis: 60_000,
    max: 10,
  }))
  return { servers, timeout: number('query_timeout', 7_000), acceptLoss: given.get('accept_data_loss') === 'true' }
}
