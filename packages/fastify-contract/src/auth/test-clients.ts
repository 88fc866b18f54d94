import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../http/request-context.ts'
import { sharedBetweenCopies } from './shared-between-copies.ts'
import { createTestIssuer, type TestIssuer, testClient, unsignedToken } from './test-issuer.ts'
import { type TrustedIssuer, withTestTrust } from './test-trust.ts'
import { newToken } from './tokens.ts'
import type { ReplaceableVerify, Verify } from './verifiers.ts'

/**
 * Credentials of a security scheme that only this process knows: a token, a key, or `USER:PASSWORD` for HTTP Basic. They are
 * JSON Web Tokens if the verifier is one of `jwtVerifier`, or calls one.
 */
export type TestCredentials = {
  /** Of a client with each of the given scopes. */
  accepted: string
  /** Of a client without scopes. */
  narrow: string
  /** Wrong ones, by what is wrong, such as `an expired token`. */
  rejected: Record<string, string>
}

/** Credentials by the name of their security scheme. After `withdraw`, the verifiers no longer accept them. */
export type IssuedCredentials = { schemes: Record<string, TestCredentials>; withdraw(): void }

/** The members of a Fastify instance that tests need. Instances of each type have them. */
export type TestableApp = { server: object; ready(): PromiseLike<unknown> }

type Wrap = (verify: Verify<unknown>) => Verify<unknown>

/** A verifier with what tests have added to it. */
type TestedVerifier = ReplaceableVerify & { wraps: Set<Wrap> }

/** The verifiers of a server by their schemes. The plugins of a server share it. */
const verifiers = sharedBetweenCopies('verifiers 2', () => new WeakMap<object, Map<string, TestedVerifier[]>>())

/** Returns a function that adds a verifier of a scheme, for `testCredentials`. */
export const replaceableIn =
  ({ server }: TestableApp, scheme: string) =>
  (verifier: ReplaceableVerify): void => {
    const schemes = verifiers.get(server) ?? new Map<string, TestedVerifier[]>()
    const added = [...(schemes.get(scheme) ?? []), { ...verifier, wraps: new Set<Wrap>() }]
    verifiers.set(server, schemes.set(scheme, added))
  }

/**
 * Makes the verifiers of an application accept credentials beside those that they accept already, until `withdraw` is
 * called. A JWT verifier verifies a token of a test like any other, by a new key pair for its issuer and audience. Other
 * verifiers accept a random secret of 256 bits. Each part of a request is read, and each scope is checked, as for any client.
 * Leaves out schemes whose verifiers the application has written itself.
 *
 * For tests in the same process: only the caller has the credentials, and nothing writes them. Until it is called, the
 * verifiers are as the application made them. Throws an Error if NODE_ENV is `production`.
 *
 * @param scopes The scopes of the accepted clients.
 */
export async function testCredentials(app: TestableApp, scopes: readonly string[]): Promise<IssuedCredentials> {
  if (process.env.NODE_ENV === 'production')
    throw new Error('testCredentials: NODE_ENV is production, where no test may have credentials; unset it')
  await app.ready()
  const undo: (() => void)[] = []
  const schemes: [string, TestCredentials][] = []
  for (const [scheme, tested] of verifiers.get(app.server) ?? []) {
    const issuers = await Promise.all(tested.map(issuerOf))
    const trusted = issuers.find((one) => one !== undefined)
    const issuer = trusted && createTestIssuer(trusted)
    const credentials = issuer === undefined ? randomCredentials() : issuedCredentials(issuer, scopes)
    for (const [index, verifier] of tested.entries()) {
      const isTrusted = issuer !== undefined && isSame(issuers[index], trusted)
      undo.push(addWrap(verifier, isTrusted ? trusting(issuer, credentials) : accepting(credentials, scopes)))
    }
    const takesPassword = tested.some((one) => one.takesPassword)
    schemes.push([scheme, takesPassword ? asPasswords(credentials) : credentials])
  }
  return {
    schemes: Object.fromEntries(schemes),
    withdraw() {
      for (const remove of undo.splice(0)) remove()
    },
  }
}

/** Adds what a test makes of a verifier. Returns a function that removes it. */
function addWrap(verifier: TestedVerifier, wrap: Wrap): () => void {
  const { original, wraps, replace } = verifier
  const update = () => replace(Array.from(wraps).reduce((verify, each) => each(verify), original))
  wraps.add(wrap)
  update()
  return function removeWrap() {
    wraps.delete(wrap)
    update()
  }
}

/** Milliseconds for which a verifier may look for an unsigned token, as where a server keeps its tokens. */
const lookUpTime = 5_000

/** Returns the issuer of the JWT verifier that a verifier calls with a token; undefined if it calls none. */
async function issuerOf({ original, takesPassword }: ReplaceableVerify): Promise<TrustedIssuer | undefined> {
  let found: TrustedIssuer | undefined
  const onVerifier = (issuer: TrustedIssuer) => {
    found ??= issuer
  }
  const credentials = takesPassword ? { user: testClient, password: unsignedToken } : unsignedToken
  const late = new AbortController()
  try {
    const verified = withTestTrust({ onVerifier }, () => original(credentials, () => true))
    await Promise.race([verified, wait(lookUpTime, undefined, { signal: late.signal })])
  } catch {
    // The verifier cannot look up a token now, which says nothing about its issuer.
  } finally {
    late.abort()
  }
  return found
}

const isSame = (one: TrustedIssuer | undefined, other: TrustedIssuer | undefined): boolean =>
  one !== undefined && one.issuer === other?.issuer && one.audience === other.audience

const randomCredentials = (): TestCredentials => ({ accepted: newToken(), narrow: newToken(), rejected: {} })

function issuedCredentials(issuer: TestIssuer, scopes: readonly string[]): TestCredentials {
  const scope = scopes.join(' ')
  return { accepted: issuer.token(scope), narrow: issuer.token(''), rejected: issuer.wrongTokens(scope) }
}

/** Returns credentials with the name of the client as the user name. */
function asPasswords({ accepted, narrow, rejected }: TestCredentials): TestCredentials {
  const written = (password: string) => `${testClient}:${password}`
  return {
    accepted: written(accepted),
    narrow: written(narrow),
    rejected: Object.fromEntries(Object.entries(rejected).map(([what, password]) => [what, written(password)])),
  }
}

/**
 * Returns what makes a verifier trust the key of an issuer. Its accepted tokens bypass the limit of failures, as tokens do that
 * a verifier has in its cache.
 */
function trusting({ key }: TestIssuer, { accepted, narrow }: TestCredentials): Wrap {
  const valid = new Set<unknown>([accepted, narrow])
  return (verify) => (credentials, withinFailureLimit) =>
    withTestTrust({ key }, () =>
      verify(credentials, valid.has(secretOf(credentials)) ? () => true : withinFailureLimit),
    )
}

const secretOf = (credentials: unknown): unknown => (credentials as { password?: string }).password ?? credentials

/** Returns what makes a verifier accept random credentials. */
function accepting({ accepted, narrow }: TestCredentials, scopes: readonly string[]): Wrap {
  const clients = new Map<unknown, Client>([
    [accepted, { name: testClient, scopes }],
    [narrow, { name: `${testClient}-narrow`, scopes: [] }],
  ])
  return (verify) => (credentials, withinFailureLimit) =>
    clients.get(secretOf(credentials)) ?? verify(credentials, withinFailureLimit)
}
