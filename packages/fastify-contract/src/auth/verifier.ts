import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ContractError } from '../http/errors.ts'
import type { Client } from '../http/request-context.ts'

/** Gets the result of a verifier: the error to respond with, or the authenticated client. */
export type Verified = (refusal?: Error, client?: Client) => void

/**
 * Verifies a request against one security scheme and calls `done` once. `scopes` are the scopes that the operation
 * requires. A verifier may reject a client without them, with a challenge of its scheme; otherwise the caller does. It
 * takes a callback because a promise for each scheme of each request costs more than most checks.
 */
export type Verifier = (request: FastifyRequest, done: Verified, scopes: readonly string[]) => void

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
}

/** Creates the verifier of a security scheme for an app. */
export type VerifierFactory = (context: VerifierContext) => Verifier | Promise<Verifier>

/** Creates the verifiers of an app, by the names of their security schemes. */
export async function createVerifiers(
  factories: Record<string, VerifierFactory>,
  context: VerifierContext,
): Promise<Verifiers> {
  const verifiers: Verifiers = {}
  // One after the other, because only one of several may register a plugin.
  for (const [name, create] of Object.entries(factories)) verifiers[name] = await create(context)
  return verifiers
}

/**
 * Decides on a request after its security schemes were checked: returns the error to respond with, or undefined to let
 * the request pass. It may count the request for rate limits, per client or as a failed authentication.
 */
export type Conclude = (
  request: FastifyRequest,
  refusal: Error | undefined,
  client: Client | undefined,
) => Error | undefined

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

/** How one kind of scheme reads and verifies credentials, with its challenge and the messages of its errors. */
type CredentialScheme<Credentials> = {
  challenge: [scheme: string, ...parameters: string[]]
  missing: string
  invalid: string
  /** Returns the credentials, undefined when there are none, or null when they cannot be decoded. */
  read(request: FastifyRequest): Credentials | undefined | null
  verify(credentials: Credentials, withinFailureLimit: () => boolean): Found
}

/** Returns the factory of a verifier that reads the credentials of a request and calls `verify` with them. */
export function credentialVerifier<Credentials>({
  challenge: [scheme, ...parameters],
  missing,
  invalid,
  read,
  verify,
}: CredentialScheme<Credentials>): VerifierFactory {
  return ({ realm, withinFailureLimit }) => {
    const challenge = challengeOf(scheme, realm, ...parameters)
    return (request, done) => {
      const accept = (client: Client | undefined) =>
        client === undefined ? done(unauthenticated('invalidToken', invalid, challenge)) : done(undefined, client)
      let found: Found
      try {
        const credentials = read(request)
        if (credentials === undefined) return done(unauthenticated('missingToken', missing, challenge))
        found = credentials === null ? undefined : verify(credentials, () => withinFailureLimit(request))
      } catch (error) {
        return done(error as Error)
      }
      if (found instanceof Promise) whilePaused(request, found).then(accept, done)
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
