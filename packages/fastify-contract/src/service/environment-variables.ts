import { isIP } from 'node:net'
import { makeValidator, type ValidatorSpec } from 'envalid'
import { isStoreUrl, storeUrls } from '../../../../src/store/open.ts'
import { isIssuer, isKeySource } from '../auth/issuer.ts'
import { defaultLimits as limits } from '../limits/limits.ts'

/**
 * Returns a function that creates the validator of a variable from its default. `parse` converts the text, `isAllowed`
 * checks the value, and `allowed` describes the allowed values in messages.
 */
const checked =
  <T extends object | string | number>(parse: (text: string) => T, isAllowed: (value: T) => boolean, allowed: string) =>
  (fallback: T): ValidatorSpec<T> =>
    makeValidator<T>((given) => {
      const value = parse(given)
      if (!isAllowed(value)) throw new Error('not allowed')
      return value
    })({ default: fallback, desc: allowed })

const text = (allowed: string, isAllowed: (value: string) => boolean) => checked(String, isAllowed, allowed)

const choice = (...choices: [string, ...string[]]) =>
  text(choices.join(', '), (value) => choices.includes(value))(choices[0])

const integer = (least: number, greatest: number, of = 'an integer') =>
  checked(
    (given) => (/^\d{1,15}$/.test(given) ? Number(given) : Number.NaN),
    (value) => value >= least && value <= greatest,
    `${of} from ${least} to ${greatest}`,
  )

const list = (of: string, isAllowed: (item: string) => boolean) =>
  checked(
    (given) => given.split(',').map((item) => item.trim()),
    (items) => items.every(isAllowed),
    of,
  )

const anything = text('any text', () => true)
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

/** All environment variables that the service reads, with their defaults and, in `desc`, the allowed values. */
export const environmentVariables = {
  HOST: address('127.0.0.1'),
  PORT: port(3000),
  STORE_URL: text(storeUrls, isStoreUrl)('sqlite:data/plants.db'),

  ACCESS_TOKENS: anything(''),
  TOKENS_FILE: anything(''),
  JWT_ISSUER: text(secureUrl, isIssuer)(''),
  JWT_AUDIENCE: anything(''),
  JWT_JWKS_URL: text(secureUrl, isKeySource)(''),
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
  HANDLER_TIMEOUT: milliseconds(1)(limits.handlerTime),
  CONNECTIONS_LIMIT: count(limits.connections),
  IN_FLIGHT_LIMIT: count(limits.inFlight),
  EVENT_LOOP_DELAY_LIMIT: milliseconds(1)(limits.eventLoopDelay),
  REQUESTS_PER_MINUTE: perMinute(limits.requests),
  AUTH_FAILURES_PER_MINUTE: perMinute(limits.authFailures),

  WARM_UP: choice('on', 'off'),
  DRAIN_TIME: milliseconds(0)(5_000),
  DRAIN_DEADLINE: milliseconds(1)(30_000),

  MANAGEMENT_HOST: address('127.0.0.1'),
  MANAGEMENT_PORT: port(3001),

  LOG_LEVEL: choice('info', 'fatal', 'error', 'warn', 'debug', 'silent'),
  ACCESS_LOG: choice('on', 'off'),
  LOG_FORMAT: choice('auto', 'json', 'pretty'),
}
