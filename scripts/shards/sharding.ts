import { fractionOf, mixBits } from './mix-bits.ts'

/** Returns the shard, from 0, of an id. */
type Sharding = (id: bigint) => number

/** Ways to divide ids among shards, by name; each knows the ids that came before. */
export const shardings: Record<string, (before: BigInt64Array, shards: number) => Sharding> = {
  range: (before, shards) => ranges(BigInt64Array.from(new Set(before)), shards),
  hash: (_, shards) => (id) => Math.floor(fractionOf(mixBits(id)) * shards),
}

/** Cuts the ids into ranges that have the same number of rows. */
function ranges(rows: BigInt64Array, shards: number): Sharding {
  const sorted = rows.sort()
  const starts = Array.from({ length: shards - 1 }, (_, cut) => {
    return sorted[Math.floor(((cut + 1) * sorted.length) / shards)] as bigint
  })
  return (id) => {
    let [low, high] = [0, starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] as bigint) <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

export type ShardLoad = {
  /** What all shards take while the busiest one takes what it can, as a multiple of that. */
  capacity: number
  /** The shards that a batch concerns, on average. */
  shardsOfBatch: number
}

/** Divides ids among shards; the ranges are those of the first half, the load is the second half. */
export function shardLoad(name: string, ids: BigInt64Array, shards: number, batch: number): ShardLoad {
  const half = ids.length >> 1
  const shardOf = (shardings[name] as (typeof shardings)[string])(ids.subarray(0, half), shards)
  const placed = Array.from(ids.subarray(half), shardOf)
  const loads = new Float64Array(shards)
  for (const shard of placed) loads[shard] = (loads[shard] as number) + 1
  const batches = Array.from({ length: Math.floor(placed.length / batch) }, (_, index) => {
    return new Set(placed.slice(index * batch, (index + 1) * batch)).size
  })
  return {
    capacity: placed.length / Math.max(...loads),
    shardsOfBatch: batches.reduce((sum, size) => sum + size, 0) / batches.length,
  }
}
