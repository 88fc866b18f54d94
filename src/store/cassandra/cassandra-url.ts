import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

export type CassandraSettings = {
  contactPoints: string[]
  keyspace: string
  datacenter: string
  credentials: { username: string; password: string } | undefined
  /** The options of TLS; undefined for connections without TLS. */
  tls: ConnectionOptions | undefined
  /** Milliseconds that a connection may take. */
  connectTimeout: number
  /** Milliseconds that a node may take for a request. */
  queryTimeout: number
  /** Whether a cluster that can lose acknowledged plants is accepted. */
  acceptLoss: boolean
}

const host = String.raw`(?:\[[\da-fA-F:.]+\]|[^@/?#,:[\]]+)(?::\d{1,5})?`

/** Matches a URL with nodes and a keyspace, whose name needs no quotes. Its parameters may still be invalid. */
export const cassandraUrl = new RegExp(
  String.raw`^cassandra://(?:(?<user>[^@:/?#]+):(?<password>[^@/?#]+)@)?(?<hosts>${host}(?:,${host})*)/(?<keyspace>[a-z]\w{0,47})(?:\?(?<parameters>[^#]+))?$`,
)

const text = { pattern: /./, expected: 'any text that is not empty' }
const file = { pattern: /./, expected: 'the path of a file' }

/** The parameters of the URL; those that PostgreSQL's URL has, too, have the same names and meanings. */
const known = new Map<string, { pattern: RegExp; expected: string }>(
  Object.entries({
    datacenter: text,
    sslmode: {
      pattern: /^(disable|require|verify-ca|verify-full)$/,
      expected: 'disable, require, verify-ca or verify-full',
    },
    sslrootcert: file,
    sslcert: file,
    sslkey: file,
    connect_timeout: { pattern: /^[1-9]\d{0,5}$/, expected: 'a number of seconds, at least 1' },
    query_timeout: { pattern: /^[1-9]\d{0,8}$/, expected: 'a number of milliseconds, at least 1' },
    accept_data_loss: { pattern: /^(true|false)$/, expected: 'true or false' },
  }),
)

/**
 * Parses `cassandra://USER:PASSWORD@HOST:PORT,HOST:PORT/KEYSPACE?PARAMETERS`, each part percent-encoded (RFC 3986
 * section 2.1). Throws when the data center is missing, or when a parameter is unknown or invalid.
 */
export function readCassandraUrl(url: string): CassandraSettings {
  const parts = (cassandraUrl.exec(url) as RegExpExecArray).groups as Record<string, string | undefined>
  const { user, password = '', hosts = '', keyspace = '', parameters = '' } = parts
  const given = new Map(new URLSearchParams(parameters.replaceAll('+', '%2B')))
  for (const [name, value] of given) {
    const parameter = known.get(name)
    if (parameter === undefined)
      throw new Error(`unknown parameter ${name}; expected one of ${[...known.keys()].join(', ')}`)
    if (!parameter.pattern.test(value)) throw new Error(`${name} is "${value}"; expected ${parameter.expected}`)
  }
  const datacenter = given.get('datacenter')
  if (datacenter === undefined) {
    throw new Error('datacenter is missing; name the data center of the nodes, as nodetool status prints it')
  }
  const number = (name: string, otherwise: number) => Number(given.get(name) ?? otherwise)
  return {
    contactPoints: hosts.split(','),
    keyspace,
    datacenter,
    credentials:
      user === undefined ? undefined : { username: decodeURIComponent(user), password: decodeURIComponent(password) },
    tls: readTls(given),
    connectTimeout: number('connect_timeout', 3) * 1_000,
    queryTimeout: number('query_timeout', 5_000),
    acceptLoss: given.get('accept_data_loss') === 'true',
  }
}

/** Returns the options of TLS. `require` encrypts only, `verify-ca` does not compare the address with the certificate. */
function readTls(given: Map<string, string>): ConnectionOptions | undefined {
  const mode = given.get('sslmode')
  if (mode === undefined) {
    const name = [...given.keys()].find((name) => name.startsWith('ssl'))
    if (name !== undefined) throw new Error(`${name} requires sslmode; expected ${known.get('sslmode')?.expected}`)
  }
  if (mode === undefined || mode === 'disable') return undefined
  const files = Object.entries({ ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' })
    .filter(([, name]) => given.has(name))
    .map(([option, name]) => [option, readFileSync(given.get(name) as string)])
  return {
    ...Object.fromEntries(files),
    // The driver would accept every certificate by default.
    rejectUnauthorized: mode !== 'require',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}
