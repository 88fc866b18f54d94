import type { StoredPlant } from '../../../src/store/plant-store.ts'
import type { Random } from '../seeded-random.ts'

/** Plants that wait to be sent, from which the next one is drawn: creates of one id are close, in no order. */
const waiting = 32

/** Most creates of a contended id, and of another one. */
const [mostContended, mostAlone] = [6, 2]

/** Returns one of the plants that are sent with an id. They differ in the tag alone, which may be missing or empty. */
function variantOf(id: bigint, variant: number): StoredPlant {
  const name = `plant ${id}`
  const tag = [undefined, '', 'tag'][variant]
  return tag === undefined ? { id, name } : { id, name, tag }
}

/**
 * Generates creates without end. Every other id is contended: it has two creates with different content and up to
 * four more. The creates of the others repeat one content.
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

/** Returns the content of a plant as a text that is equal for equal content only. */
export const contentOf = ({ name, tag }: { name: string; tag?: string | null }): string =>
  JSON.stringify([name, tag ?? null])
