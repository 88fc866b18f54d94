import type { Node } from '../compile/walk-document.ts'
import type { SourceMoves } from './source-moves.ts'

export type SchemaMerger = Pick<SourceMoves, 'finish' | 'originsOf'> & {
  /** Returns the schema at a pointer, with its allOf merged if possible. */
  merge(pointer: string): unknown
  /** The value of the member `alternativesName` in a document that is built from the results. */
  alternatives: Node
  /** The pointers of schemas that were merged into others. */
  taken: Set<string>
  /** Returns the number of keywords and schemas that were visited. */
  steps(): number
}
