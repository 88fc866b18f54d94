/** The values that a parameter of a store's URL may have, and their description for messages. */
export type Parameter = { pattern: RegExp; expected: string }

/** Matches a host of a URL, with its port. */
const host = String.raw`(?:\[[\da-fA-F:.]+\]|[^@/?#,:[\]]+)(?::\d{1,5})?`

/** The pattern of a list of hosts, for the regular expression of a URL. */
export const hosts = `${host}(?:,${host})*`

const milliseconds: Parameter = { pattern: /^[1-9]\d{0,8}$/, expected: 'a number of milliseconds, at least 1' }
export const text: Parameter = { pattern: /./, expected: 'any text that is not empty' }
const file: Parameter = { pattern: /./, expected: 'the path of a file' }

/** Parameters of every URL, named as in libpq where it has them (postgresql.org/docs/current/libpq-connect.html). */
const common = {
  sslmode: {
    pattern: /^(disable|require|verify-ca|verify-full)$/,
    expected: 'disable, require, verify-ca or verify-full',
  },
  sslrootcert: file,
  sslcert: file,
  sslkey: file,
  connect_timeout: { pattern: /^[1-9]\d{0,5}$/, expected: 'a number of seconds, at least 1' },
  query_timeout: milliseconds,
  accept_data_loss: { pattern: /^(true|false)$/, expected: 'true or false' },
}

/** The settings of the parameters that every URL may have. */
export type ConnectionSettings = {
  /** Milliseconds that a connection may take. */
  connectTimeout: number
  /** Milliseconds that a query may take. */
  queryTimeout: number
  /** Whether a database that can lose acknowledged plants is accepted. */
  acceptLoss: boolean
}

/**
 * Parses the query of a store's URL, which may have `own` and the common parameters. Returns their values by name, and
 * the settings of the common ones, with `queryTimeout` as the default. Throws when a parameter is unknown or invalid.
 */
export function readParameters(
  query: string,
  own: Record<string, Parameter>,
  queryTimeout: number,
): { given: Map<string, string>; settings: ConnectionSettings } {
  const known = new Map<string, Parameter>(Object.entries({ ...common, ...own }))
  // URLSearchParams decodes a plus as a space, and libpq does not.
  const given = new Map(new URLSearchParams(query.replaceAll('+', '%2B')))
  for (const [name, value] of given) {
    const parameter = known.get(name)
    if (parameter === undefined)
      throw new Error(`unknown parameter ${name}; expected one of ${[...known.keys()].join(', ')}`)
    if (!parameter.pattern.test(value)) throw new Error(`${name} is "${value}"; expected ${parameter.expected}`)
    if (name.startsWith('ssl') && !given.has('sslmode'))
      throw new Error(`${name} requires sslmode; expected ${common.sslmode.expected}`)
  }
  return {
    given,
    settings: {
      connectTimeout: Number(given.get('connect_timeout') ?? 3) * 1_000,
      queryTimeout: Number(given.get('query_timeout') ?? queryTimeout),
      acceptLoss: given.get('accept_data_loss') === 'true',
    },
  }
}
