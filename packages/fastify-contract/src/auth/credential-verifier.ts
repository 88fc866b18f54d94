import type { FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import type { Verifier } from '../serve/security.ts'
import type { MayCost } from './auth-limits.ts'
import { whilePaused } from './paused-connection.ts'

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
