import { fractionOf, mixBits } from './mix-bits.ts'

/** Returns the shard, from 0, of an id. */
type Sharding = (id: bigint) => number

/** Ways to divide ids among shards, by name; each may use the ids that were created before. */
export const shardings: Record<string, (before: BigInt64Array, shards: number) => Sharding> = {
  range: (before, shards) => ranges(BigInt64Array.from(new Set(before)), shards),
  hash: (_, shards) => (id) => Math.floor(fractionOf(mixBits(id)) * shards),
}

/** Returns a sharding by ranges that hold the same number of the given rows. */
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
  /** The throughput of all shards when the busiest one is saturated, as a multiple of the throughput of one shard. */
  capacity: number
  /** The average number of shards with rows of one batch. */
  shardsOfBatch: number
}

/** Returns the load of shards. The first half of the ids determines the ranges; the second half is the load. */
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
