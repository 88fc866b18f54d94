import type { Client } from '../http/request-context.ts'
import { newToken } from './tokens.ts'
import type { ReplaceVerify, Verify } from './verifiers.ts'

/** Credentials of a security scheme that only this process knows: a token, a key, or the password of any user name. */
export type TestCredentials = {
  /** Of a client with each of the given scopes. */
  accepted: string
  /** Of a client without scopes. */
  narrow: string
}

/** The members of a Fastify instance that tests need. Instances of each type have them. */
export type TestableApp = { server: object; ready(): PromiseLike<unknown> }

/** What replaces the verifiers of a server, by their schemes. The plugins of a server share it. */
type Replaceable = WeakMap<object, Map<string, ReplaceVerify[]>>

/** The number in it changes with the type, so that copies of different versions share nothing they do not know. */
const sharedKey = Symbol.for('fastify-contract: replaceable verifiers 1')
const shared: Partial<Record<symbol, Replaceable>> = globalThis

/** Each copy of this module in a process has the same map: the commands bring a copy that tests the one of a project. */
const replaceable: Replaceable = shared[sharedKey] ?? new WeakMap()
shared[sharedKey] = replaceable

/** Returns a function that adds what replaces a verifier of a scheme, for `testCredentials`. */
export const replaceableIn =
  ({ server }: TestableApp, scheme: string) =>
  (replace: ReplaceVerify): void => {
    const schemes = replaceable.get(server) ?? new Map<string, ReplaceVerify[]>()
    replaceable.set(server, schemes.set(scheme, [...(schemes.get(scheme) ?? []), replace]))
  }

/**
 * Makes the verifiers of an application accept random credentials of 256 bits beside those that they accept already, and
 * returns them by the name of their security scheme. Each part of a request is read, and each scope is checked, as for any
 * client. Leaves out schemes whose verifiers the application has written itself.
 *
 * For tests in the same process: only the caller has the credentials, and nothing writes them. Until it is called, the
 * verifiers are as the application made them. Throws an Error if NODE_ENV is `production`.
 *
 * @param scopes The scopes of the accepted clients.
 */
export async function testCredentials(
  app: TestableApp,
  scopes: readonly string[],
): Promise<Record<string, TestCredentials>> {
  if (process.env.NODE_ENV === 'production')
    throw new Error('testCredentials: NODE_ENV is production, where no test may have credentials; unset it')
  await app.ready()
  const found: [string, TestCredentials][] = []
  for (const [scheme, replacements] of replaceable.get(app.server) ?? []) {
    const credentials = { accepted: newToken(), narrow: newToken() }
    const clients = new Map<unknown, Client>([
      [credentials.accepted, { name: 'contract-test', scopes }],
      [credentials.narrow, { name: 'contract-test-narrow', scopes: [] }],
    ])
    for (const replace of replacements) replace((verify) => acceptAlso(clients, verify))
    found.push([scheme, credentials])
  }
  return Object.fromEntries(found)
}

function acceptAlso<Credentials>(clients: Map<unknown, Client>, verify: Verify<Credentials>): Verify<Credentials> {
  return function verifyOrAccept(credentials, withinFailureLimit) {
    return (
      clients.get((credentials as { password?: string }).password ?? credentials) ??
      verify(credentials, withinFailureLimit)
    )
  }
}
