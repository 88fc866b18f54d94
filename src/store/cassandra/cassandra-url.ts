import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { type ConnectionSettings, hosts, readParameters, text } from '../url-parameters.ts'

export type CassandraSettings = ConnectionSettings & {
  contactPoints: string[]
  keyspace: string
  datacenter: string
  credentials: { username: string; password: string } | undefined
  /** The options of TLS; undefined for connections without TLS. */
  tls: ConnectionOptions | undefined
}

/** Matches a URL with nodes and a keyspace, whose name needs no quotes. Its parameters may still be invalid. */
export const cassandraUrl = new RegExp(
  String.raw`^cassandra://(?:(?<user>[^@:/?#]+):(?<password>[^@/?#]+)@)?(?<nodes>${hosts})/(?<keyspace>[a-z]\w{0,47})(?:\?(?<query>[^#]+))?$`,
)

/**
 * Parses `cassandra://USER:PASSWORD@HOST:PORT,HOST:PORT/KEYSPACE?PARAMETERS`, each part percent-encoded (RFC 3986
 * section 2.1). Throws when the data center is missing, or when a parameter is unknown or invalid.
 */
export function readCassandraUrl(url: string): CassandraSettings {
  const parts = (cassandraUrl.exec(url) as RegExpExecArray).groups as Record<string, string | undefined>
  const { user, password = '', nodes = '', keyspace = '', query = '' } = parts
  const { given, settings } = readParameters(query, { datacenter: text }, 5_000)
  const datacenter = given.get('datacenter')
  if (datacenter === undefined) {
    throw new Error('datacenter is missing; name the data center of the nodes, as nodetool status prints it')
  }
  return {
    ...settings,
    contactPoints: nodes.split(','),
    keyspace,
    datacenter,
    credentials:
      user === undefined ? undefined : { username: decodeURIComponent(user), password: decodeURIComponent(password) },
    tls: readTls(given),
  }
}

/**
 * Returns the options of TLS, with the meaning of libpq: `require` verifies the certificate only with `sslrootcert`, and
 * only `verify-full` compares the address with the certificate. Throws for `verify-ca` without `sslrootcert`, because
 * public CAs issue certificates to anyone.
 */
function readTls(given: Map<string, string>): ConnectionOptions | undefined {
  const mode = given.get('sslmode')
  if (mode === undefined || mode === 'disable') return undefined
  const hasRoot = given.has('sslrootcert')
  if (mode === 'verify-ca' && !hasRoot)
    throw new Error('sslmode=verify-ca requires sslrootcert; name the file of the CA')
  const files = Object.entries({ ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' })
    .filter(([, name]) => given.has(name))
    .map(([option, name]) => [option, readFileSync(given.get(name) as string)])
  return {
    ...Object.fromEntries(files),
    // The driver would accept every certificate by default.
    rejectUnauthorized: mode !== 'require' || hasRoot,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}
