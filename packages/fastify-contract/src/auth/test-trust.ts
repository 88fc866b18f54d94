import { AsyncLocalStorage } from 'node:async_hooks'
import type { KeyObject } from 'node:crypto'
import { sharedBetweenCopies } from './shared-between-copies.ts'

/** The issuer and the audience of the tokens that a JWT verifier accepts. */
export type TrustedIssuer = { issuer: string; audience: string }

/** What a test adds to the JWT verifiers that a call reaches. */
type TestTrust = {
  /** The key of the tokens with this key id. */
  key?: { kid: string; publicKey: KeyObject }
  /** Called with the issuer of each JWT verifier. */
  onVerifier?(issuer: TrustedIssuer): void
}

/**
 * The trust of the current call. It ends with the call, so that no verifier keeps it, and another application with the same
 * verifier never has it.
 */
const trust = sharedBetweenCopies('test trust 1', () => new AsyncLocalStorage<TestTrust>())

/** Calls a function within which JWT verifiers have a key of a test. */
export const withTestTrust = <Result>(added: TestTrust, call: () => Result): Result => trust.run(added, call)

/** Returns the public key of a test for a key id; undefined outside `withTestTrust` and for other ids. */
export function testKeyOf(kid: string | undefined): KeyObject | undefined {
  const key = trust.getStore()?.key
  return key !== undefined && key.kid === kid ? key.publicKey : undefined
}

/** Reports the issuer that a JWT verifier trusts to the test that called it. */
export const reportVerifier = (issuer: TrustedIssuer): void => trust.getStore()?.onVerifier?.(issuer)
