import type { Source } from './merge-sources.ts'
import { pointerMap } from './pointer-map.ts'
import { resolvedPointer } from './schema-references.ts'

export type SourceMoves = {
  /** Records that the sources of the document are at a pointer of the result. */
  set(sources: Source[], place: string): void
  /** Returns a $ref to a pointer of the document; `finish` adjusts it if the target moves. */
  referTo(pointer: string): { $ref: string }
  /** Sets each $ref that `referTo` has returned to the place of its target in the comparable document. */
  finish(comparable: object): void
  /** Returns the pointers of the document whose contents were merged at a pointer of the result. */
  originsOf(pointer: string): string[]
}

/** Returns a record of where the parts of merged schemas move. */
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
        reference.$ref = resolvedPointer(comparable, moves.get(reference.$ref)[0] as string)
      }
    },
    originsOf: origins.get,
  }
}
