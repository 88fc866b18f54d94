import type { Source } from './merge-sources.ts'
import { pointerMap } from './pointer-map.ts'
import { standingAt } from './schema-references.ts'

export type SourceMoves = {
  /** Says that what the document has at these sources stands at a pointer of the result. */
  set(sources: Source[], place: string): void
  /** Returns a $ref to what the document has at a pointer, wherever that moves. */
  referTo(pointer: string): { $ref: string }
  /** Lets each such $ref lead to where its target stands in the document made of the results. */
  finish(comparable: object): void
  /** Returns the pointers of the document that make up what stands at a pointer of the result. */
  originsOf(pointer: string): string[]
}

/** Returns what follows the parts of schemas that are merged. */
export function sourceMoves(): SourceMoves {
  const origins = pointerMap()
  const moves = pointerMap()
  const references: { $ref: string }[] = []
  return {
    set(sources, place) {
      const pointers = sources.map(({ pointer }) => pointer)
      origins.set(place, pointers)
      for (const { pointer, shared } of sources) if (!shared && pointer !== place) moves.set(pointer, [place])
    },
    referTo(pointer) {
      const reference = { $ref: pointer }
      references.push(reference)
      return reference
    },
    finish(comparable) {
      for (const reference of references) {
        reference.$ref = standingAt(comparable, moves.get(reference.$ref)[0] as string)
      }
    },
    originsOf: origins.get,
  }
}
