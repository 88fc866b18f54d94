import { createCipheriv, createHash } from 'node:crypto'

/** A random number generator. */
export type Random = {
  /** Returns an integer from 0 to `limit` - 1; `limit` is at most 2^32. */
  below(limit: number): number
  /** Returns a signed integer of 64 bits. */
  int64(): bigint
}

/** Creates a generator that repeats its sequence for the same seed. */
export function randomOf(seed: number): Random {
  const key = createHash('sha256').update(String(seed)).digest()
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const zeros = Buffer.alloc(65_536)
  let pool = Buffer.alloc(0)
  const take = (bytes: number) => {
    if (pool.length < bytes) pool = stream.update(zeros)
    const taken = pool.subarray(0, bytes)
    pool = pool.subarray(bytes)
    return taken
  }
  return {
    below: (limit) => Math.floor((take(4).readUInt32LE() / 2 ** 32) * limit),
    int64: () => take(8).readBigInt64LE(),
  }
}
