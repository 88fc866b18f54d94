import { isIP } from 'node:net'
import { cleanEnv, makeValidator, str } from 'envalid'
import { newToken, tokenCommand, tokenProblem } from './auth/tokens.ts'
import { isStoreUrl, storeUrls, withoutPassword } from './store/open.ts'

export type Config = {
  host: string
  port: number
  tokens: string[]
  /** The one token of this process, when none was configured. */
  generatedToken: string | undefined
  storeUrl: string
  /** Bytes. */
  bodyLimit: number
  logLevel: string
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent']

/** Each says what is allowed: envalid's own messages do not. */
const allowed = {
  HOST: 'an IP address or localhost',
  PORT: 'an integer from 0 to 65535',
  STORE_URL: storeUrls,
  BODY_LIMIT: 'a number of bytes from 1 to 1073741824',
  LOG_LEVEL: logLevels.join(', '),
}

const checked = <T>(parse: (text: string) => T, isAllowed: (value: T) => boolean) =>
  makeValidator<T>((text) => {
    const value = parse(text)
    if (!isAllowed(value)) throw new Error('not allowed')
    return value
  })

const address = checked(String, (host) => host === 'localhost' || isIP(host) > 0)
const storeUrl = checked(String, isStoreUrl)
const integer = (least: number, greatest: number) =>
  checked(
    (text) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN),
    (value) => value >= least && value <= greatest,
  )

/**
 * Takes the environment; gives the configuration. Throws one error of one line that names the first variable that is
 * wrong, what was given and what is allowed; of a token it tells only what is wrong with it.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  // An empty variable is one that is not set: so it is in a shell script and in a compose file.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { HOST, PORT, STORE_URL, BODY_LIMIT, LOG_LEVEL, ACCESS_TOKENS } = cleanEnv(
    given,
    {
      HOST: address({ default: '127.0.0.1' }),
      PORT: integer(0, 65_535)({ default: 3000 }),
      STORE_URL: storeUrl({ default: 'sqlite:data/plants.db' }),
      BODY_LIMIT: integer(1, 2 ** 30)({ default: 262_144 }),
      LOG_LEVEL: str({ choices: logLevels, default: 'warn' }),
      ACCESS_TOKENS: str({ default: '' }),
    },
    {
      reporter: ({ errors }) => {
        for (const name of Object.keys(errors) as (keyof typeof allowed)[]) {
          const value = withoutPassword(String(given[name]))
          throw new Error(`${name} is ${JSON.stringify(value)}, allowed: ${allowed[name]}`)
        }
      },
    },
  )
  const tokens = ACCESS_TOKENS === '' ? [] : accessTokens(ACCESS_TOKENS)
  const generatedToken = tokens.length === 0 ? tokenForLoopback(HOST) : undefined
  return {
    host: HOST,
    port: PORT,
    tokens: generatedToken === undefined ? tokens : [generatedToken],
    generatedToken,
    storeUrl: STORE_URL,
    bodyLimit: BODY_LIMIT,
    logLevel: LOG_LEVEL,
  }
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

/** Only this machine can reach a loopback address (RFC 6890): a token that nobody configured will do there. */
function tokenForLoopback(host: string): string {
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return newToken()
  throw new Error(`ACCESS_TOKENS is not set, which is allowed on a loopback HOST only; make one with ${tokenCommand}`)
}
