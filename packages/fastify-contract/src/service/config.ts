import { isIP } from 'node:net'
import { cleanEnv, makeValidator, type ValidatorSpec } from 'envalid'
import { type BoundTokens, isIssuer, isKeySource, isScope, newToken, scopesIn, tokensProblem } from '../auth/tokens.ts'
import { type Limits, defaultLimits as limits } from '../limits/limits.ts'

/**
 * Returns a function that creates the validator of a variable from its default. `parse` converts the text, `isValid`
 * checks the value, and `expected` describes the valid values in messages.
 */
function checked<T extends object | string | number>(
  parse: (text: string) => T,
  isValid: (value: T) => boolean,
  desc: string,
) {
  const validator = makeValidator<T>(function parseValid(given) {
    const value = parse(given)
    if (!isValid(value)) throw new Error('not valid')
    return value
  })
  return (fallback: T): ValidatorSpec<T> => validator({ default: fallback, desc })
}

const text = (expected: string, isValid: (value: string) => boolean) => checked(String, isValid, expected)

const choice = (...choices: [string, ...string[]]) =>
  text(choices.join(', '), (value) => choices.includes(value))(choices[0])

const wholeNumber = (given: string) => (/^\d{1,15}$/.test(given) ? Number(given) : Number.NaN)
const integer = (least: number, greatest: number, of = 'an integer') =>
  checked(wholeNumber, (value) => value >= least && value <= greatest, `${of} from ${least} to ${greatest}`)

/** Returns the items of a list, whose separators are commas. */
const itemsOf = (given: string) => given.split(',').map((item) => item.trim())
const list = (of: string, isValid: (item: string) => boolean) => checked(itemsOf, (items) => items.every(isValid), of)

const anything = text('any string', () => true)
const address = text('an IP address or localhost', (host) => host === 'localhost' || isIP(host) > 0)
const port = integer(0, 65_535)
const bytes = (least: number) => integer(least, 2 ** 30, 'a number of bytes')
const milliseconds = (least: number) => integer(least, 3_600_000, 'a number of milliseconds')
const perMinute = integer(0, 1_000_000_000, 'a number per minute')
const count = integer(1, 1_000_000)
const secureUrl = 'an https URL, or an http URL of a loopback host'

/** Accepts CIDR ranges in the notation of RFC 4632 section 3.1. */
const ranges = list('IP addresses and CIDR ranges, comma separated', (range) => {
  const [, base = '', length = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? []
  return Number(length) <= ({ 4: 32, 6: 128 }[isIP(base)] ?? -1)
})

/** Accepts origins as browsers send them, since they are compared as text: in lower case, without a default port. */
const origins = list(
  'exact origins such as https://app.example:8443, comma separated, without a path or "*"',
  (origin) => /^https?:[^*]+$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
)

/** The environment variables of every service, with their defaults and, in `desc`, the valid values. */
export const environmentVariables = {
  HOST: address('127.0.0.1'),
  PORT: port(3000),

  ACCESS_TOKENS: anything(''),
  ACCESS_TOKENS_SCOPE: text('scopes with spaces between them (RFC 6749)', (scopes) => scopesIn(scopes).every(isScope))(
    '',
  ),
  TOKENS_FILE: anything(''),
  JWT_ISSUER: text(secureUrl, isIssuer)(''),
  JWT_AUDIENCE: anything(''),
  JWT_JWKS_URL: text(secureUrl, isKeySource)(''),
  JWT_BOUND_TOKENS: choice('reject', 'accept'),
  TRUST_PROXY: ranges([]),
  CORS_ORIGINS: origins([]),

  BODY_LIMIT: bytes(1)(limits.body),
  BODY_MEMORY_LIMIT: bytes(1)(limits.bodyMemory),
  UPLOAD_LIMIT: integer(1, 2 ** 40, 'a number of bytes')(limits.upload),
  FORM_FIELDS_LIMIT: integer(1, 100_000)(limits.formFields),
  HEADERS_LIMIT: bytes(1_024)(limits.headers),
  HEADERS_TIMEOUT: milliseconds(1)(limits.headersTime),
  REQUEST_TIMEOUT: milliseconds(1)(limits.requestTime),
  KEEP_ALIVE_TIMEOUT: milliseconds(1)(limits.keepAliveTime),
  LINGER_LIMIT: bytes(1)(limits.linger),
  LINGER_TIMEOUT: milliseconds(1)(limits.lingerTime),
  HANDLER_TIMEOUT: milliseconds(1)(limits.handlerTime),
  CONNECTIONS_LIMIT: count(limits.connections),
  IN_FLIGHT_LIMIT: count(limits.inFlight),
  EVENT_LOOP_DELAY_LIMIT: milliseconds(1)(limits.eventLoopDelay),
  REQUESTS_PER_MINUTE: perMinute(limits.requests),
  AUTH_FAILURES_PER_MINUTE: perMinute(limits.authFailures),

  DRAIN_TIME: milliseconds(0)(5_000),
  DRAIN_DEADLINE: milliseconds(1)(30_000),

  MANAGEMENT_HOST: address('127.0.0.1'),
  MANAGEMENT_PORT: port(3001),

  LOG_LEVEL: choice('info', 'fatal', 'error', 'warn', 'debug', 'silent'),
  ACCESS_LOG: choice('on', 'off'),
  LOG_FORMAT: choice('auto', 'json', 'pretty'),
}

/** An environment variable of the application: a string, with its default and a description of the valid values. */
export type OwnVariable = { default: string; expected: string; isValid(value: string): boolean }

/** What an application adds to the configuration of a service. */
export type Application<Name extends string> = {
  /** The environment variables of the application itself; default: none. */
  variables?: Record<Name, OwnVariable>
  /** The prefix of the tokens that the service generates, by which secret scanners recognize them; default: none. */
  tokenPrefix?: string
  /** The command that creates a token, for messages. */
  tokenCommand?: string
}

export type Config<Name extends string = string> = {
  /** The values of the application's own variables. */
  own: Record<Name, string>
  host: string
  port: number
  tokens: string[]
  /** The scopes of these tokens. */
  scopes: string[]
  /** The token that this process generated because no other way to authenticate is configured. */
  generatedToken: string | undefined
  tokensFile: string | undefined
  jwt: { issuer: string; audience: string; jwksUrl: string | undefined; boundTokens: BoundTokens } | undefined
  limits: Limits
  trustProxy: string[]
  /** The CORS origins: pages from these may call the service in a browser. */
  origins: string[]
  /** In milliseconds after SIGTERM: how long new requests are accepted, and when the process ends at the latest. */
  drain: { time: number; deadline: number }
  management: { host: string; port: number }
  log: { level: string; format: string; requests: boolean }
}

/**
 * Reads the configuration from environment variables. Throws one line that names the first invalid variable, its value
 * and what is expected, but never shows a token.
 *
 * @param isSecured Whether an operation requires credentials, so that the service needs a source of tokens.
 */
export function readConfig<Name extends string>(
  environment: NodeJS.ProcessEnv,
  { variables = {} as Record<Name, OwnVariable>, tokenPrefix, tokenCommand = defaultTokenCommand }: Application<Name>,
  isSecured = true,
): Config<Name> {
  const own = readOwnVariables(environment, variables)
  const values = readVariables(environment, environmentVariables)
  checkPorts(values)
  const tokens = values.ACCESS_TOKENS === '' ? [] : accessTokens(values.ACCESS_TOKENS, tokenCommand)
  const jwt = jwtConfig(values)
  const tokensFile = values.TOKENS_FILE || undefined
  const isOpen = tokens.length === 0 && tokensFile === undefined && jwt === undefined
  const generatedToken = isOpen && isSecured ? tokenForLoopback(values.HOST, tokenPrefix, tokenCommand) : undefined
  return {
    own,
    host: addressOf(values.HOST),
    port: values.PORT,
    tokens: generatedToken === undefined ? tokens : [generatedToken],
    scopes: scopesIn(values.ACCESS_TOKENS_SCOPE),
    generatedToken,
    tokensFile,
    jwt,
    limits: {
      body: values.BODY_LIMIT,
      bodyMemory: values.BODY_MEMORY_LIMIT,
      upload: values.UPLOAD_LIMIT,
      formFields: values.FORM_FIELDS_LIMIT,
      headers: values.HEADERS_LIMIT,
      headersTime: values.HEADERS_TIMEOUT,
      requestTime: values.REQUEST_TIMEOUT,
      keepAliveTime: values.KEEP_ALIVE_TIMEOUT,
      linger: values.LINGER_LIMIT,
      lingerTime: values.LINGER_TIMEOUT,
      handlerTime: values.HANDLER_TIMEOUT,
      connections: values.CONNECTIONS_LIMIT,
      inFlight: values.IN_FLIGHT_LIMIT,
      eventLoopDelay: values.EVENT_LOOP_DELAY_LIMIT,
      requests: values.REQUESTS_PER_MINUTE,
      authFailures: values.AUTH_FAILURES_PER_MINUTE,
    },
    trustProxy: values.TRUST_PROXY,
    origins: values.CORS_ORIGINS,
    drain: { time: values.DRAIN_TIME, deadline: values.DRAIN_DEADLINE },
    management: { host: addressOf(values.MANAGEMENT_HOST), port: values.MANAGEMENT_PORT },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT, requests: values.ACCESS_LOG === 'on' },
  }
}

const defaultTokenCommand = 'openssl rand -base64 32'

/** Replaces localhost with 127.0.0.1. For localhost, Fastify also listens on ::1, with a server that has no limits. */
const addressOf = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host)

type Variables = Record<string, ValidatorSpec<unknown>>

const isSet = ([, value]: [string, unknown]) => value !== ''

function readVariables<Known extends Variables>(environment: NodeJS.ProcessEnv, variables: Known) {
  // An empty variable counts as not set, because shell scripts and compose files pass unset variables as empty ones.
  const given = Object.fromEntries(Object.entries(environment).filter(isSet))
  return cleanEnv(given, variables, {
    reporter: ({ errors }) => {
      for (const name of Object.keys(errors)) {
        const value = maskPassword(String(given[name]))
        throw new Error(`${name} is ${JSON.stringify(value)}; expected ${variables[name]?.desc}`)
      }
    },
  })
}

function readOwnVariables<Name extends string>(
  environment: NodeJS.ProcessEnv,
  variables: Record<Name, OwnVariable>,
): Record<Name, string> {
  const specs: Variables = {}
  for (const [name, own] of Object.entries<OwnVariable>(variables))
    specs[name] = text(own.expected, own.isValid)(own.default)
  return { ...readVariables(environment, specs) } as Record<Name, string>
}

/** Returns a URL for messages: its password is masked, in the user part and in parameters. */
export const maskPassword = (url: string): string =>
  url.replace(/(:\/\/[^:/]*):.*@/s, '$1:***@').replace(/([?&]\w*password=)[^&]*/gi, '$1***')

type Values = ReturnType<typeof readVariables<typeof environmentVariables>>

const wildcardAddresses = ['0.0.0.0', '::']

function checkPorts({ HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT }: Values): void {
  const hosts = [addressOf(HOST), addressOf(MANAGEMENT_HOST)]
  const isShared = hosts[0] === hosts[1] || hosts.some((host) => wildcardAddresses.includes(host))
  if (PORT !== MANAGEMENT_PORT || PORT === 0 || !isShared) return
  throw new Error(`MANAGEMENT_PORT is "${MANAGEMENT_PORT}", the same as PORT; expected another port`)
}

function accessTokens(list: string, tokenCommand: string): string[] {
  const tokens = itemsOf(list)
  const problem = tokensProblem(tokens)
  if (problem !== undefined) throw new Error(`ACCESS_TOKENS: ${problem}, as from ${tokenCommand}`)
  return tokens
}

function jwtConfig({ JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL, JWT_BOUND_TOKENS }: Values): Config['jwt'] {
  const boundTokens = JWT_BOUND_TOKENS as BoundTokens
  if (JWT_ISSUER !== '' && JWT_AUDIENCE !== '')
    return { issuer: JWT_ISSUER, audience: JWT_AUDIENCE, jwksUrl: JWT_JWKS_URL || undefined, boundTokens }
  if (JWT_ISSUER !== '')
    throw new Error('JWT_AUDIENCE is required when JWT_ISSUER is set; set it to the audience of the tokens')
  const alone = Object.entries({
    JWT_AUDIENCE,
    JWT_JWKS_URL,
    JWT_BOUND_TOKENS: boundTokens === 'reject' ? '' : boundTokens,
  }).find(isSet)
  if (alone !== undefined) throw new Error(`${alone[0]} is "${alone[1]}"; it requires JWT_ISSUER`)
  return undefined
}

/**
 * Returns a new token when the host is a loopback address, which only this machine can reach (RFC 6890). Throws
 * otherwise.
 */
function tokenForLoopback(host: string, tokenPrefix: string | undefined, tokenCommand: string): string {
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return newToken(tokenPrefix)
  throw new Error(
    `ACCESS_TOKENS is not set; on ${host} the service requires ACCESS_TOKENS, TOKENS_FILE or JWT_ISSUER; create a token with ${tokenCommand}`,
  )
}
