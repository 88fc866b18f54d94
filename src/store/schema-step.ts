/**
 * A version of the tables, made of an earlier one in one transaction. A released step never changes: a further version is a
 * further step. A step without `oldest` expands: it only adds what the statements of each earlier release ignore, so that
 * instances of both releases run side by side. A step with it contracts, and runs only when an operator asks for it.
 */
export type SchemaStep = {
  version: number
  sql: string
  /** Of a step that expands: how an UPDATE sets what older instances leave out, and where it is still left out. */
  backfill?: Backfill
  /** Of a step that contracts: the oldest version whose instances can still use the tables. */
  oldest?: number
}

export type Backfill = { set: string; where: string }

/** What was done to the tables of a database, and the oldest version whose instances can use them. */
export type SchemaState = { applied: Set<number>; oldest: number }

/** Whether a step leaves the tables to older instances as well. */
export const isExpansion = ({ oldest }: SchemaStep): boolean => oldest === undefined

/** Returns the newest version that an instance with these steps knows, which has the tables of version `base` without them. */
export const newestVersion = (base: number, steps: SchemaStep[]): number =>
  Math.max(base, ...steps.map(({ version }) => version))

/** Throws when tables are for instances of version `oldest` or newer alone, and this one knows no more than `known`. */
export function assertKnown(oldest: number, known: number): void {
  if (oldest <= known) return
  throw new Error(`it has schema version ${oldest}, newer than version ${known} of this service; run the newer service`)
}
