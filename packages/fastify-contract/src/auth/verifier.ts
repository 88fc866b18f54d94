import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ContractError } from '../http/errors.ts'
import type { Client } from '../http/request-context.ts'
import type { Verifier } from '../serve/security.ts'
import type { MayCost } from './auth-limits.ts'

/** The maximum length of credentials as they are sent. Longer ones are rejected before they are decoded. */
export const maxCredentialsLength = 4_096

/** How one kind of scheme reads and verifies credentials, and its errors. */
type CredentialScheme<Credentials> = {
  /** Returns the credentials, undefined when there are none, or null when they cannot be decoded. */
  read(request: FastifyRequest): Credentials | undefined | null
  verify(credentials: Credentials, mayCost: () => boolean): Client | undefined | Promise<Client | undefined>
  missing(): Error
  invalid(): Error
}

/** Creates the verifier of a scheme, which reads the credentials of a request and calls `verify` with them. */
export const credentialVerifier =
  <Credentials>({ read, verify, missing, invalid }: CredentialScheme<Credentials>, mayCost: MayCost): Verifier =>
  (request, done) => {
    const accept = (client: Client | undefined) => (client === undefined ? done(invalid()) : done(undefined, client))
    let found: ReturnType<typeof verify>
    try {
      const credentials = read(request)
      if (credentials === undefined) return done(missing())
      found = credentials === null ? undefined : verify(credentials, () => mayCost(request))
    } catch (error) {
      return done(error as Error)
    }
    if (found instanceof Promise) whilePaused(request.raw.socket, found).then(accept, done)
    else accept(found)
  }

/** The realm (RFC 9110 section 11.5): clients may send the same credentials to every path of it. */
const realm = 'plant-store'

/** Returns the challenge of an authentication scheme, with its parameters unchanged (RFC 9110 section 11.3). */
export const challengeOf = (scheme: string, ...parameters: string[]): string =>
  [`${scheme} realm="${realm}"`, ...parameters].join(', ')

/** Returns the 401 error for a request without credentials. */
export const missingCredentials = (message: string, challenge: string): ContractError =>
  new ContractError('missingToken', message, { 'www-authenticate': challenge })

/** Returns the 401 error for a request whose credentials are not valid. */
export const invalidCredentials = (message: string, challenge: string): ContractError =>
  new ContractError('invalidToken', message, { 'www-authenticate': challenge })

/**
 * Pauses a connection until a promise settles, so that an unauthenticated client cannot fill the memory with its body.
 * Does nothing for a connection of Fastify's inject, which cannot be paused.
 */
export function whilePaused<T>(socket: Partial<Socket>, waiting: Promise<T>): Promise<T> {
  socket.pause?.()
  return waiting.finally(() => socket.resume?.())
}
