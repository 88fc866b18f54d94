import type { FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import type { Verifier } from '../openapi/security.ts'
import type { MayCost } from './auth-limits.ts'
import { whilePaused } from './paused-connection.ts'

/** Characters that credentials may have as they are sent; longer ones are refused before anything is made of them. */
export const longestCredentials = 4_096

/** What one kind of scheme reads of a request, and its refusals. */
type CredentialScheme<Credentials> = {
  /** Returns the credentials; undefined for none, null for some that cannot be read. */
  read(request: FastifyRequest): Credentials | undefined | null
  verify(credentials: Credentials, mayCost: () => boolean): Client | undefined | Promise<Client | undefined>
  missing(): Error
  invalid(): Error
}

/** Returns the verifier of a scheme: it reads the credentials of a request and asks `verify` for their client. */
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
