import type { StoredPlant } from '../../../src/store/plant-store.ts'
import type { Random } from '../seeded-random.ts'

/** Size of the pool from which the next write is drawn at random: writes of one id are close together, shuffled. */
const waiting = 32

/** Maximum number of writes of a contended id, and of any other id. */
const [mostContended, mostAlone] = [6, 2]

/** Returns one of three plants with the same id that differ only in the tag: missing, empty or set. */
function variantOf(id: bigint, variant: number): StoredPlant {
  const name = `plant ${id}`
  const tag = [undefined, '', 'tag'][variant]
  return tag === undefined ? { id, name } : { id, name, tag }
}

/**
 * Generates writes without end. Every other id is contended: at least two of its writes differ in content, and there
 * are up to six. The writes of any other id are identical.
 */
export function* contendedCreates(random: Random): Generator<StoredPlant> {
  const pool: StoredPlant[] = []
  for (let isContended = false; ; isContended = !isContended) {
    const id = random.int64()
    const first = random.below(3)
    const others = isContended ? 1 + random.below(mostContended - 1) : random.below(mostAlone)
    pool.push(variantOf(id, first))
    for (let other = 0; other < others; other++) {
      const shift = isContended ? (other === 0 ? 1 : random.below(3)) : 0
      pool.push(variantOf(id, (first + shift) % 3))
    }
    while (pool.length > waiting) yield pool.splice(random.below(pool.length), 1)[0] as StoredPlant
  }
}

/** Returns a plant's name and tag as a text, for comparison. */
export const contentOf = ({ name, tag }: { name: string; tag?: string | null }): string =>
  JSON.stringify([name, tag ?? null])
