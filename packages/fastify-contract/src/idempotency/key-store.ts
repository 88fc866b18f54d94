/** A request with an idempotency key, as a store sees it: two SHA-256 digests of 43 characters in base64url. */
export type KeyedRequest = {
  /** The digest of the security scheme, the client, its subject, the operation and the key. */
  id: string
  /** The digest of the method, the path, the query, the media type and the body. */
  fingerprint: string
}

/** What becomes of a key whose handler has ended. */
export type Completion = {
  status: number
  /** The response to keep; undefined to keep none, so that the next request with the key runs the handler again. */
  response: Uint8Array | undefined
}

/** The right to run the handler of a key. Exactly one of `complete` and `release` is called, once. */
export type Claim<Transaction = unknown> = {
  /** The transaction in which `complete` writes; undefined if the store has none for the handler. */
  transaction?: Transaction
  /**
   * Keeps the response, and commits the transaction. Resolves with false, and keeps nothing, if the lease of the claim
   * ran out and another request has taken the key over. Rejects if it is not known to be kept.
   */
  complete(completion: Completion): Promise<boolean>
  /** Frees the key, unless another request has taken it over, and rolls the transaction back. */
  release(): Promise<void>
}

/** The state of a key. */
export type ClaimOutcome<Transaction = unknown> =
  | { state: 'claimed'; claim: Claim<Transaction> }
  /** A handler of the key runs. The fingerprint is undefined while no other connection can read it. */
  | { state: 'running'; fingerprint?: string }
  | { state: 'completed'; fingerprint: string; response: Uint8Array }
  /** The store has no room for a new key. */
  | { state: 'full' }

/**
 * A store of idempotency keys. Of concurrent claims of one key, in all processes that share the store, one succeeds. It
 * must reject within a bounded time if it cannot be reached.
 */
export type KeyStore<Transaction = unknown> = {
  claim(request: KeyedRequest): Promise<ClaimOutcome<Transaction>>
}

/** The bounds of a store. Times are in milliseconds. */
export type KeyLimits = {
  /** How long a key stays claimed whose handler does not end, for example because its process was killed. */
  lease: number
  /** How long a response is kept. */
  retention: number
  /** The number of keys, above which new ones are rejected. */
  keys: number
  /** Bytes of all kept responses, above which new keys are rejected. */
  bytes: number
}

const hour = 3_600_000

/** The lease is three times the default handler timeout; Stripe keeps responses for a day, too. */
export const defaultKeyLimits: KeyLimits = {
  lease: 30_000,
  retention: 24 * hour,
  keys: 1_000_000,
  bytes: 1_073_741_824,
}

/** Returns the limits of a store, with the defaults for those that are not given. Throws for one that is not positive. */
export function keyLimits(given: Partial<KeyLimits>, defaults = defaultKeyLimits): KeyLimits {
  const limits = { ...defaults, ...given }
  for (const [name, value] of Object.entries(limits))
    if (!(value > 0))
      throw new RangeError(`the limit ${name} of the idempotency keys is ${value}; use a positive number`)
  return limits
}
