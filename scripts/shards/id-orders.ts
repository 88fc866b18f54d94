import { fractionOf, mixBits } from './mix-bits.ts'
import { zipfRanks } from './zipf.ts'

export type IdOptions = {
  creates: number
  /** The number of clients, and of the ids that are created again and again. */
  keys: number
  /** The exponent of Zipf's law. */
  skew: number
  seed: number
}

/** Returns the ids of creates in their order, by the name of the way in which clients choose ids. */
export function idOrders({ creates, keys, skew, seed }: IdOptions): Record<string, BigInt64Array> {
  // Each seed has numbers of its own, as long as there are fewer than 2^40 of them.
  let drawn = BigInt(seed) << 40n
  const random = () => mixBits(++drawn)
  const rankOf = zipfRanks(keys, skew)
  const skewed = () => rankOf(fractionOf(random()))
  const created = new Map<number, number>()
  /** A client counts up within a range of its own; an odd factor scatters the ranges of the busiest clients. */
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
