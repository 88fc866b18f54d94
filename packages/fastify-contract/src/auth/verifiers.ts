import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ContractError, errorOf } from '../contract/errors.ts'
import type { Client } from '../http/request-context.ts'
import { decodeText, parseCookies, unquotedCookie } from '../http/request-head.ts'
import { type BoundTokens, isIssuer, type VerifyToken } from './tokens.ts'

/** Gets the result of a verifier: the error to respond with, or the authenticated client. */
export type Verified = (rejection?: Error, client?: Client) => void

/**
 * Verifies a request against one security scheme and calls `done` once. `scopes` are the scopes that the operation
 * requires. A verifier may reject a client without them, with a challenge of its scheme; otherwise the caller does. It
 * takes a callback because a promise for each scheme of each request costs more than most checks. It must not send the
 * reply, since another scheme may still accept the request.
 */
export type Verifier = {
  (request: FastifyRequest, done: Verified, scopes: readonly string[], reply: FastifyReply): void
  /** Whether it adds a check of the body, by `checkBeforeParsing`. */
  verifiesBody?: true
}

/** One verifier for each security scheme, by its name in the document. */
export type Verifiers = Record<string, Verifier>

/** What the verifiers of an app share. */
export type VerifierContext = {
  app: FastifyInstance
  /** The realm of the challenges (RFC 9110 section 11.5): clients may send the same credentials to every path of it. */
  realm: string
  /**
   * Returns whether the address of a request is below its limit of authentication failures. Verifiers check it before
   * work that takes more than a look-up, such as checking a signature.
   */
  withinFailureLimit(request: Pick<FastifyRequest, 'raw'>): boolean
  /** Counts a failure that the body of a request shows. Returns the error to respond with beyond the limit. */
  countFailure(request: Pick<FastifyRequest, 'raw'>): Error | undefined
  /** Addresses and CIDR ranges of the proxies whose headers are trusted. */
  trustProxy: readonly string[]
  /**
   * Called with the function that verifies the credentials of requests, so that a test in the same process can have
   * credentials of its own (see `testCredentials`).
   */
  onReplaceable?(verify: ReplaceableVerify): void
}

/** A function that verifies credentials, and what replaces it. */
export type ReplaceableVerify = {
  original: Verify<unknown>
  replace(verify: Verify<unknown>): void
  /** Whether the credentials are `{ user, password }`; otherwise they are a text. */
  takesPassword: boolean
}

/** Returns the client of credentials; undefined if they are not valid. */
export type Verify<Credentials> = (credentials: Credentials, withinFailureLimit: () => boolean) => Found

/** Creates the verifier of a security scheme for an app. */
export type VerifierFactory = (context: VerifierContext) => Verifier | Promise<Verifier>

/** Returns the challenge of an authentication scheme, with its parameters unchanged (RFC 9110 section 11.3). */
export const challengeOf = (scheme: string, realm: string, ...parameters: string[]): string =>
  [`${scheme} realm="${realm.replace(/["\\]/g, '\\$&')}"`, ...parameters].join(', ')

/** Returns the 401 error for a request whose credentials are missing or not valid. */
export const unauthenticated = (
  kind: 'missingToken' | 'invalidToken',
  message: string,
  challenge: string,
): ContractError => new ContractError(kind, message, { 'www-authenticate': challenge })

/**
 * Returns the error for a client that lacks one of the scopes; undefined if it has them all. With `bearerChallenge` the
 * error has a challenge that names the required scopes (RFC 6750 section 3.1); other schemes define none.
 */
export function scopeError(
  client: Client | undefined,
  scopes: readonly string[],
  bearerChallenge?: string,
): ContractError | undefined {
  if (scopes.every((scope) => client?.scopes.includes(scope))) return undefined
  const needed = scopes.join(' ')
  return new ContractError('insufficientScope', `a scope is missing; the operation needs ${needed}`, {
    ...(bearerChallenge !== undefined && {
      'www-authenticate': `${bearerChallenge}, error="insufficient_scope", scope="${needed}"`,
    }),
  })
}

/** The maximum length of credentials as they are sent. Longer ones are rejected before they are decoded. */
export const maxCredentialsLength = 4_096

type Found = Client | undefined | Promise<Client | undefined>

/** How one kind of scheme reads credentials, with its challenge and the messages of its errors. */
type SchemeReader<Credentials> = {
  challenge: [scheme: string, ...parameters: string[]]
  /** Whether the challenges of wrong credentials and of missing scopes name the error (RFC 6750 section 3). */
  namesErrors?: true
  missing: string
  invalid: string
  /** Returns the credentials, undefined when there are none, or null when they cannot be decoded. */
  read(request: FastifyRequest): Credentials | undefined | null
}

/** How one kind of scheme reads and verifies credentials. */
export type CredentialScheme<Credentials> = SchemeReader<Credentials> & {
  verify: Verify<Credentials>
  /** Whether the credentials are `{ user, password }`; otherwise they are a text. */
  takesPassword?: true
}

/** Returns the functions that create the errors of a scheme in a realm. */
function errorsOf(
  { challenge: [scheme, ...parameters], namesErrors, missing, invalid }: SchemeReader<never>,
  realm: string,
) {
  const challenge = challengeOf(scheme, realm, ...parameters)
  const ofInvalid = namesErrors ? `${challenge}, error="invalid_token"` : challenge
  return {
    missing: () => unauthenticated('missingToken', missing, challenge),
    invalid: () => unauthenticated('invalidToken', invalid, ofInvalid),
    /** Returns the error for a client without one of the scopes, if the challenge names it; otherwise the caller does. */
    withoutScope: (client: Client, scopes: readonly string[]) =>
      namesErrors ? scopeError(client, scopes, challenge) : undefined,
  }
}

/** Returns the factory of a verifier that reads the credentials of a request and calls `verify` with them. */
export function credentialVerifier<Credentials>(scheme: CredentialScheme<Credentials>): VerifierFactory {
  const { read } = scheme
  return function verifierOf({ realm, withinFailureLimit, onReplaceable }) {
    let { verify } = scheme
    onReplaceable?.({
      original: verify as Verify<unknown>,
      takesPassword: scheme.takesPassword === true,
      replace(other) {
        verify = other
      },
    })
    const errors = errorsOf(scheme as SchemeReader<never>, realm)
    return function verifyCredentials(request, done, scopes) {
      const accept = (client: Client | undefined) =>
        client === undefined ? done(errors.invalid()) : done(errors.withoutScope(client, scopes), client)
      let found: Found
      try {
        const credentials = read(request)
        if (credentials === undefined) return done(errors.missing())
        found = credentials === null ? undefined : verify(credentials, () => withinFailureLimit(request))
      } catch (error) {
        return done(errorOf(error))
      }
      // A rejection with undefined must not count as a success.
      if (found instanceof Promise) whilePaused(request, found).then(accept, (thrown) => done(errorOf(thrown)))
      else accept(found)
    }
  }
}

/**
 * Pauses a connection until a promise settles, so that an unauthenticated client cannot fill the memory with its body.
 * Does nothing for a connection of Fastify's inject, which cannot be paused.
 */
export function whilePaused<T>({ raw }: Pick<FastifyRequest, 'raw'>, waiting: Promise<T>): Promise<T> {
  const { socket }: { socket: { pause?(): void; resume?(): void } } = raw
  socket.pause?.()
  return waiting.finally(() => socket.resume?.())
}

/** RFC 9110 section 11.1: the scheme in any case, then spaces and any credentials. */
const bearerScheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1: the scheme, then a token. */
const bearerCredentials = /^bearer +([\w.~+/-]+=*)$/i

const bearerReader: SchemeReader<string> = {
  // RFC 6750 section 3.1: the challenge for a missing token has no error code.
  challenge: ['Bearer'],
  namesErrors: true,
  missing: 'the access token is missing',
  // The same for an unknown, an expired and a revoked token.
  invalid: 'the access token is not valid',
  read({ headers: { authorization = '' } }) {
    const token = bearerCredentials.exec(authorization)?.[1]
    if (token !== undefined) return token
    return bearerScheme.test(authorization) ? null : undefined
  },
}

/**
 * Verifies the tokens of a scheme with bearer tokens (http bearer, oauth2 or openIdConnect) by `verify`. A document may
 * have several of these schemes.
 */
export const bearer = (verify: VerifyToken): VerifierFactory => credentialVerifier({ ...bearerReader, verify })

/** The function `auth` of @fastify/bearer-auth: returns whether the token of a request is valid. */
export type BearerAuth = (token: string, request: FastifyRequest) => boolean | Promise<boolean>

/** A hook that calls `auth` with the token of a request, and calls `done` with an error if the token is not valid. */
type BearerHook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/** A request with the client of its token, under a key of the verifier. */
type Verifying = FastifyRequest & Record<symbol, Client | undefined>

/**
 * Verifies bearer tokens as `bearer` does, by a hook of the application, such as `verifyBearerAuth` of
 * @fastify/bearer-auth. `createHook` registers the plugin with the given function `auth`, and returns the hook.
 */
export function bearerHook(
  verifyToken: VerifyToken,
  createHook: (app: FastifyInstance, auth: BearerAuth) => Promise<BearerHook>,
): VerifierFactory {
  return async function verifierOf({ app, realm, withinFailureLimit, onReplaceable }) {
    let verify: Verify<string> = verifyToken
    onReplaceable?.({
      original: verify as Verify<unknown>,
      takesPassword: false,
      replace(other) {
        verify = other
      },
    })
    const errors = errorsOf(bearerReader as SchemeReader<never>, realm)
    const clientKey = Symbol('client of the bearer token')
    const identify = (request: FastifyRequest, client: Client | undefined): boolean => {
      if (client !== undefined) (request as Verifying)[clientKey] = client
      return client !== undefined
    }
    const hook = await createHook(app, (token, request) => {
      const found = verify(token, () => withinFailureLimit(request))
      if (!(found instanceof Promise)) return identify(request, found)
      return whilePaused(request, found).then((client) => identify(request, client))
    })
    return function verifyByHook(request, done, scopes, reply) {
      // Plugins also trim characters that are not spaces in HTTP, so the header is checked before.
      const token = bearerReader.read(request)
      if (typeof token !== 'string') return done(token === null ? errors.invalid() : errors.missing())
      hook(request, reply, function finish(error) {
        const client = (request as Verifying)[clientKey]
        // Without a client, `verify` has rejected with undefined.
        if (client !== undefined) done(errors.withoutScope(client, scopes), client)
        else
          done((error as { statusCode?: number } | undefined)?.statusCode === 401 ? errors.invalid() : errorOf(error))
      })
    }
  }
}

/** The path of the metadata, relative to the issuer URL (OpenID Connect Discovery 1.0 section 4). */
const wellKnown = '/.well-known/openid-configuration'

/** An OpenID provider. */
export type OpenIdProvider = {
  /** The `openIdConnectUrl` of the scheme. */
  url: string
  /** The required audience: the `aud` claim of the tokens. */
  audience: string
  /** The `iss` claim of the tokens; default: the URL without the well-known path. */
  issuer?: string
  /** Default: `reject`. */
  boundTokens?: BoundTokens
}

/**
 * Verifies the JWT access tokens (RFC 9068) of an openIdConnect scheme, but accepts no ID tokens. Fetches the
 * provider's keys for the first token. Rejects when the URL is not the metadata URL of the issuer.
 */
export function openIdConnect({ url, issuer = url.replace(wellKnown, ''), ...given }: OpenIdProvider): VerifierFactory {
  return async function verifierOf(context) {
    if (!isIssuer(issuer) || issuer.replace(/\/$/, '') + wellKnown !== url) {
      throw new Error(
        `openIdConnectUrl ${JSON.stringify(url)} must be the https URL of the issuer followed by ${wellKnown}`,
      )
    }
    const { jwtVerifier } = await import('./jwt.ts')
    return await bearer(jwtVerifier({ issuer, jwksUrl: undefined, ...given }))(context)
  }
}

/** The location and name of an API key in a security scheme (OpenAPI 3.1 section 4.8.27). */
export type ApiKeyLocation = { in: 'header' | 'query' | 'cookie'; name: string }

/**
 * Verifies the keys of an apiKey scheme by `verify`. A key that is sent twice in a query, or has more than 4,096
 * characters, is not valid. Of two cookies, the first counts (RFC 6265 section 5.4). The scheme name ApiKey is not
 * registered, but RFC 9110 section 15.5.2 requires a challenge in every 401.
 */
export const apiKey = (location: ApiKeyLocation, verify: VerifyToken): VerifierFactory =>
  credentialVerifier({
    challenge: ['ApiKey'],
    missing: 'an API key is required',
    invalid: 'the API key is not valid',
    read: (request) => keyOf(valuesAt(location, request), location.in === 'query' ? decodeText : String),
    verify,
  })

function valuesAt({ in: location, name }: ApiKeyLocation, { headers, query }: FastifyRequest): string[] {
  if (location === 'header') return ownValues(headers, name.toLowerCase())
  if (location === 'query') return ownValues(query as object, name)
  // As for cookie parameters and in common plugins, so that all of them see the same key.
  return ownValues(parseCookies(headers.cookie), name).slice(0, 1).map(unquotedCookie)
}

/** Returns the values of an own property only: a name such as `toString` is also that of an inherited property. */
const ownValues = (values: object, name: string): string[] =>
  Object.hasOwn(values, name) ? [(values as Record<string, string | string[]>)[name] as string | string[]].flat() : []

/** Returns the key, undefined when there is none, or null when there are several or the key cannot be decoded. */
function keyOf([key = '', ...more]: string[], decode: (text: string) => string): string | undefined | null {
  if (key === '' && more.length === 0) return undefined
  if (more.length > 0 || key.length > maxCredentialsLength) return null
  try {
    return decode(key)
  } catch {
    return null
  }
}
