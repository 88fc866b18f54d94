import type { StoredPlant } from '../../src/store/plant-store.ts'
import type { Random } from './seeded-random.ts'

/**
 * Returns the only plant that is ever sent with this id. Name and tag are derived from the id, so that any row can be
 * verified without a record of the request. Some plants are longer than a database page.
 */
export function plantOf(id: bigint): StoredPlant {
  const mixed = Number(BigInt.asUintN(64, id * 0x9e37_79b9_7f4a_7c15n) >> 40n)
  const length = mixed % 64 === 0 ? mixed % 9_000 : mixed % 200
  const name = `plant ${id} ${'ä'.repeat(length)}`
  const tags = [undefined, '', `tag ${mixed}`]
  const tag = tags[mixed % tags.length]
  return tag === undefined ? { id, name } : { id, name, tag }
}

/** Returns whether a row equals the plant that is sent with its id. */
export function isPlant({ id, name, tag }: { id: bigint; name: string; tag: string | null }): boolean {
  const plant = plantOf(id)
  return name === plant.name && tag === (plant.tag ?? null)
}

/**
 * Generates ids without end: random int64 values, and sequences that count up and down from 0 and up from 2^53, so that
 * inserts hit both the end and the middle of an index. One id in `retries` repeats a recent one, acknowledged or not;
 * 0 turns repetition off.
 */
export function* idsOf(random: Random, retries = 16): Generator<bigint> {
  const recent: bigint[] = []
  const next = [0n, -1n, 2n ** 53n] as [bigint, bigint, bigint]
  const fresh = () => {
    const kind = random.below(4)
    const id = next[kind]
    if (id === undefined) return random.int64()
    next[kind] = id + (id < 0n ? -1n : 1n)
    return id
  }
  for (let count = 0; ; count++) {
    const again = retries > 0 && count > 0 && random.below(retries) === 0
    const id = again ? (recent[random.below(recent.length)] as bigint) : fresh()
    recent[count % 256] = id
    yield id
  }
}
