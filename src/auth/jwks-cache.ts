import { createLocalJWKSet, type JSONWebKeySet } from 'jose'

/** Finds the one key that a token's header names; rejects when there is none, or more than one. */
export type KeySet = ReturnType<typeof createLocalJWKSet>

/** Nobody can tell now whether a token is good. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'

  /** Takes the seconds after which to try again. */
  constructor(
    readonly retryAfter: number,
    cause: unknown,
  ) {
    super('the keys of the issuer cannot be had', { cause })
  }
}

/** Milliseconds. */
export type KeyTimes = {
  /** An older set is fetched again before it is used. */
  maxAge?: number
  /** An older set is not used even while the issuer cannot be reached. */
  maxStale?: number
  /** There is no other fetch for so long after one that failed, and none for an unknown key after any. */
  cooldown?: number
  /** A fetch, discovery included, takes no longer. */
  timeout?: number
  now?(): number
}

export type IssuerKeys = {
  /** Resolves with the keys; rejects with `KeysUnavailable`. */
  current(): Promise<KeySet>
  /** The same, for a key that the current set does not have. */
  newer(): Promise<KeySet>
}

/**
 * Holds the key set of an issuer. `fetchKeySet` gives its JSON; it is asked when keys are needed and never twice at a
 * time. What is no key set leaves the last one in use, as if the issuer could not be reached.
 */
export function issuerKeys(
  fetchKeySet: (signal: AbortSignal) => Promise<unknown>,
  {
    maxAge = 300_000,
    maxStale = 3_600_000,
    cooldown = 10_000,
    timeout = 5_000,
    now = () => performance.now(),
  }: KeyTimes = {},
): IssuerKeys {
  let held: { keys: KeySet; since: number } | undefined
  let failure: { cause: unknown; until: number } | undefined
  let fetching: Promise<KeySet> | undefined

  async function fetchKeys(): Promise<KeySet> {
    const since = now()
    try {
      const keys = createLocalJWKSet((await fetchKeySet(AbortSignal.timeout(timeout))) as JSONWebKeySet)
      held = { keys, since }
      failure = undefined
      return keys
    } catch (cause) {
      failure = { cause, until: now() + cooldown }
      throw new KeysUnavailable(cooldown / 1_000, cause)
    }
  }

  async function refresh(): Promise<KeySet> {
    const wait = failure === undefined ? 0 : failure.until - now()
    if (wait > 0) throw new KeysUnavailable(wait / 1_000, failure?.cause)
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined
    })
    return await fetching
  }

  return {
    async current() {
      if (held === undefined) return await refresh()
      const { keys, since } = held
      const age = now() - since
      if (age < maxAge) return keys
      if (age >= maxStale) return await refresh()
      // The first to meet an issuer that hangs wait for it; after them nobody does.
      const known = failure !== undefined
      const refreshed = refresh().catch(() => keys)
      return known ? keys : await refreshed
    },
    async newer() {
      return held !== undefined && now() - held.since < cooldown ? held.keys : await refresh()
    },
  }
}
