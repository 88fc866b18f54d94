import { fractionOf, mixBits } from './mix-bits.ts'
import { zipfRanks } from './zipf.ts'

export type IdOptions = {
  creates: number
  /** The number of clients, and the number of ids that are created repeatedly. */
  keys: number
  /** The exponent of Zipf's law. */
  skew: number
  seed: number
}

/** Returns the ids of successive creates for each way in which clients choose ids, by its name. */
export function idOrders({ creates, keys, skew, seed }: IdOptions): Record<string, BigInt64Array> {
  // Different seeds draw different numbers, as long as each draws fewer than 2^40.
  let drawn = BigInt(seed) << 40n
  const random = () => mixBits(++drawn)
  const rankOf = zipfRanks(keys, skew)
  const skewed = () => rankOf(fractionOf(random()))
  const created = new Map<number, number>()
  /** Each client counts up within its own range; an odd factor scatters the ranges of the busiest clients. */
  const ofClient = () => {
    const client = skewed()
    const count = (created.get(client) ?? 0) + 1
    created.set(client, count)
    return (BigInt.asUintN(23, BigInt(client) * 0x9e3779n) << 40n) + BigInt(count)
  }
  let last = 0n
  const orders = {
    sequential: () => ++last,
    random,
    'by client': ofClient,
    repeated: () => mixBits(BigInt(skewed())),
  }
  return Object.fromEntries(
    Object.entries(orders).map(([name, next]) => [name, BigInt64Array.from({ length: creates }, next)]),
  )
}
