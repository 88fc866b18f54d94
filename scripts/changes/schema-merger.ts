import type { Node } from '../generate/walk-document.ts'
import type { SourceMoves } from './source-moves.ts'

export type SchemaMerger = Pick<SourceMoves, 'finish' | 'originsOf'> & {
  /** Returns the schema at a pointer, without an allOf where it can be without. */
  merge(pointer: string): unknown
  /** What a document made of the results has as its member `alternativesName`. */
  alternatives: Node
  /** The pointers of schemas whose keywords stand in others, too. */
  taken: Set<string>
  /** The number of keywords and schemas looked at. */
  steps(): number
}
