import { createCipheriv, createHash } from 'node:crypto'

/** A source of random numbers. */
export type Random = {
  /** An integer from 0 to below `limit`, which is at most 2^32. */
  below(limit: number): number
  /** Any integer of 64 bits, signed. */
  int64(): bigint
}

/** Takes a seed; the same seed gives the same numbers again. */
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
