import { performance } from 'node:perf_hooks'
import {
  type Claim,
  type ClaimOutcome,
  defaultKeyLimits,
  type KeyedRequest,
  type KeyLimits,
  type KeyStore,
  keyLimits,
} from './key-store.ts'

type Entry = {
  fingerprint: string
  leasedUntil: number
  expiresAt: number
  response: Uint8Array | undefined
}

/** The memory of one process holds fewer keys than a database. */
const memoryLimits: KeyLimits = { ...defaultKeyLimits, keys: 100_000, bytes: 67_108_864 }

/** Bytes that an entry takes in memory besides its response, measured and rounded up. */
const entryBytes = 512

/**
 * Creates a store of idempotency keys in the memory of this process. Its keys end with the process, and another process
 * does not see them.
 *
 * @param now Returns monotonic milliseconds.
 */
export function memoryKeys(given: Partial<KeyLimits> = {}, now = () => performance.now()): KeyStore {
  const limits = keyLimits(given, memoryLimits)
  /** By id, in the order in which they expire: an entry moves to the end when its expiry is set. */
  const entries = new Map<string, Entry>()
  let bytes = 0
  const remove = (id: string, entry: Entry) => {
    if (entries.delete(id)) bytes -= entryBytes + (entry.response?.length ?? 0)
  }
  const put = (id: string, entry: Entry) => {
    const earlier = entries.get(id)
    if (earlier !== undefined) remove(id, earlier)
    entries.set(id, entry)
    bytes += entryBytes + (entry.response?.length ?? 0)
  }
  const evictExpired = (time: number) => {
    for (const [id, entry] of entries) {
      if (entry.expiresAt > time) break
      remove(id, entry)
    }
  }
  const isHeld = (id: string, entry: Entry) => entries.get(id) === entry

  return {
    async claim({ id, fingerprint }): Promise<ClaimOutcome> {
      const time = now()
      evictExpired(time)
      const earlier = entries.get(id)
      if (earlier !== undefined) {
        const { response, leasedUntil } = earlier
        if (response !== undefined) return { state: 'completed', fingerprint: earlier.fingerprint, response }
        const isOver = leasedUntil <= time && earlier.fingerprint === fingerprint
        if (!isOver) return { state: 'running', fingerprint: earlier.fingerprint }
      } else if (entries.size >= limits.keys || bytes >= limits.bytes) return { state: 'full' }
      return { state: 'claimed', claim: claimOf({ id, fingerprint }, time) }
    },
  }

  function claimOf({ id, fingerprint }: KeyedRequest, time: number): Claim {
    const held = { fingerprint, leasedUntil: time + limits.lease, expiresAt: time + limits.retention }
    const entry: Entry = { ...held, response: undefined }
    put(id, entry)
    return {
      async complete({ response }) {
        if (!isHeld(id, entry)) return false
        if (response === undefined) remove(id, entry)
        else put(id, { ...entry, expiresAt: now() + limits.retention, response: Uint8Array.from(response) })
        return true
      },
      async release() {
        if (isHeld(id, entry)) remove(id, entry)
      },
    }
  }
}
