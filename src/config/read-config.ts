import { cleanEnv } from 'envalid'
import { newToken, tokenCommand, tokenProblem } from '../auth/tokens.ts'
import type { Limits } from '../limits/limits.ts'
import { isAlone, withoutPassword } from '../store/open.ts'
import { variables } from './environment-variables.ts'

export type Config = {
  host: string
  port: number
  /** Processes that serve. */
  workers: number
  storeUrl: string
  tokens: string[]
  /** The one token of this process, when no other way to authenticate was configured. */
  generatedToken: string | undefined
  tokensFile: string | undefined
  jwt: { issuer: string; audience: string; jwksUrl: string | undefined } | undefined
  limits: Limits
  trustProxy: string[]
  /** Origins whose pages may call the service from a browser. */
  origins: string[]
  /** Whether the service sends requests to itself before it is ready. */
  warmUp: boolean
  /** Milliseconds: how long requests are still taken after SIGTERM, and when the process ends at the latest. */
  drain: { time: number; deadline: number }
  management: { host: string; port: number }
  log: { level: string; format: string; requests: boolean }
}

/**
 * Reads the configuration from environment variables. Throws an error of one line that names the first invalid
 * variable, the given value and what is allowed; of a token it says only what is wrong with it.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const values = readVariables(environment)
  checkWorkers(values)
  checkPorts(values)
  const tokens = values.ACCESS_TOKENS === '' ? [] : accessTokens(values.ACCESS_TOKENS)
  const jwt = jwtConfig(values)
  const tokensFile = values.TOKENS_FILE || undefined
  const isOpen = tokens.length === 0 && tokensFile === undefined && jwt === undefined
  const generatedToken = isOpen ? tokenForLoopback(values.HOST) : undefined
  return {
    host: addressOf(values.HOST),
    port: values.PORT,
    workers: values.WORKERS,
    storeUrl: values.STORE_URL,
    tokens: generatedToken === undefined ? tokens : [generatedToken],
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
      handlerTime: values.HANDLER_TIMEOUT,
      connections: values.CONNECTIONS_LIMIT,
      inFlight: values.IN_FLIGHT_LIMIT,
      eventLoopDelay: values.EVENT_LOOP_DELAY_LIMIT,
      requests: values.REQUESTS_PER_MINUTE,
      authFailures: values.AUTH_FAILURES_PER_MINUTE,
    },
    trustProxy: values.TRUST_PROXY,
    origins: values.CORS_ORIGINS,
    warmUp: values.WARM_UP === 'on',
    drain: { time: values.DRAIN_TIME, deadline: values.DRAIN_DEADLINE },
    management: { host: addressOf(values.MANAGEMENT_HOST), port: values.MANAGEMENT_PORT },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT, requests: values.ACCESS_LOG === 'on' },
  }
}

/** Fastify would listen on the other loopback address too, with a server that has no limits. */
const addressOf = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host)

function readVariables(environment: NodeJS.ProcessEnv) {
  // An empty variable is one that is not set: so it is in a shell script and in a compose file.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  return cleanEnv(given, variables, {
    reporter: ({ errors }) => {
      for (const name of Object.keys(errors) as (keyof typeof variables)[]) {
        const value = withoutPassword(String(given[name]))
        throw new Error(`${name} is ${JSON.stringify(value)}, allowed: ${variables[name].desc}`)
      }
    },
  })
}

function checkWorkers({ WORKERS, STORE_URL }: ReturnType<typeof readVariables>): void {
  if (WORKERS === 1 || !isAlone(STORE_URL)) return
  throw new Error(
    `WORKERS is "${WORKERS}", allowed: 1 beside STORE_URL=${STORE_URL}, a store that one process has alone`,
  )
}

const everywhere = ['0.0.0.0', '::']

function checkPorts({ HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT }: ReturnType<typeof readVariables>): void {
  const hosts = [addressOf(HOST), addressOf(MANAGEMENT_HOST)]
  const isShared = hosts[0] === hosts[1] || hosts.some((host) => everywhere.includes(host))
  if (PORT !== MANAGEMENT_PORT || PORT === 0 || !isShared) return
  throw new Error(`MANAGEMENT_PORT is "${MANAGEMENT_PORT}", the same as PORT, allowed: another port`)
}

function accessTokens(list: string): string[] {
  const tokens = list.split(',').map((token) => token.trim())
  for (const [index, token] of tokens.entries()) {
    const problem = tokenProblem(token)
    if (problem === undefined) continue
    const which = `token ${index + 1} of ${tokens.length}`
    throw new Error(`ACCESS_TOKENS: ${which} ${problem}, allowed: at least 128 bits; make one with ${tokenCommand}`)
  }
  return tokens
}

function jwtConfig({ JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL }: ReturnType<typeof readVariables>): Config['jwt'] {
  if (JWT_ISSUER !== '' && JWT_AUDIENCE !== '') {
    return { issuer: JWT_ISSUER, audience: JWT_AUDIENCE, jwksUrl: JWT_JWKS_URL || undefined }
  }
  if (JWT_ISSUER !== '')
    throw new Error('JWT_AUDIENCE is not set, beside JWT_ISSUER it must be: what the tokens are for')
  const alone = Object.entries({ JWT_AUDIENCE, JWT_JWKS_URL }).find(([, value]) => value !== '')
  if (alone !== undefined) throw new Error(`${alone[0]} is "${alone[1]}", allowed only beside JWT_ISSUER`)
  return undefined
}

/** Only this machine can reach a loopback address (RFC 6890): a token that nobody configured will do there. */
function tokenForLoopback(host: string): string {
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return newToken()
  const means = 'nor are TOKENS_FILE and JWT_ISSUER, which is allowed on a loopback HOST only'
  throw new Error(`ACCESS_TOKENS is not set, ${means}; make a token with ${tokenCommand}`)
}
