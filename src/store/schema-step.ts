/**
 * A step from one version of the tables to the next, in one transaction. A released step never changes; a new version
 * is a new step. A step without `oldest` expands: its additions are ignored by the statements of earlier releases, so
 * that instances of both releases run side by side. A step with `oldest` contracts, and runs only when an operator asks
 * for it.
 */
export type SchemaStep = {
  version: number
  sql: string
  /** For a step that expands: the SET and WHERE clauses of an UPDATE that fills in what older instances leave out. */
  backfill?: Backfill
  /** For a step that contracts: the oldest version whose instances can still use the tables. */
  oldest?: number
}

export type Backfill = { set: string; where: string }

/** The versions whose steps have been applied to a database, and the oldest version whose instances can use it. */
export type SchemaState = { applied: Set<number>; oldest: number }

/** Returns whether a step expands, so that older instances can still use the tables. */
export const isExpansion = ({ oldest }: SchemaStep): boolean => oldest === undefined

/** Returns the newest version among `steps`, or `base`, the version of the tables before any step. */
export const newestVersion = (base: number, steps: SchemaStep[]): number =>
  Math.max(base, ...steps.map(({ version }) => version))

/** Throws when the tables need an instance of version `oldest`, and this instance knows only versions up to `known`. */
export function assertKnown(oldest: number, known: number): void {
  if (oldest <= known) return
  throw new Error(`it has schema version ${oldest}, newer than version ${known} of this service; run the newer service`)
}
