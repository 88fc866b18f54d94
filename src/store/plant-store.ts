/** A plant as a store keeps it. Handlers convert it to the types of the contract, on which stores do not depend. */
export type StoredPlant = { id: bigint; name: string; tag?: string }

/**
 * The outcome of a write: the plant is new, the same plant exists already, or its id belongs to a plant with another
 * name or tag and nothing was changed. A missing tag differs from an empty one.
 */
export type CreateOutcome = 'created' | 'identical' | 'conflict'

/** The operations that handlers call. While a store is unavailable, they reject with an error with `retryAfter` (s). */
export type PlantOperations = {
  /** Creates a plant. Resolves once the outcome is durable, also for an identical plant. */
  create(plant: StoredPlant): Promise<CreateOutcome>
}

/** A store of plants. */
export type PlantStore = PlantOperations & {
  /**
   * Resolves when a write would be durable now, which the store tests with a write that leaves no plant. Otherwise
   * rejects with the reason. The service calls it every five seconds while no plant is created, and every second while
   * the service is not ready.
   */
  ready(): Promise<void>
  /**
   * Resolves when every pending write has its outcome and all resources are released. It may be called several times.
   * After the first call, all other functions reject.
   */
  close(): Promise<void>
  /** Resolves with the reason if the store has failed permanently. The process then exits. */
  failure?: Promise<Error>
}

/** Reads a database of plants, while a service may have it open. */
export type PlantReader = PlantQueries & Pick<PlantStore, 'close'>

/**
 * The queries of a database of plants. A query has its type here and its code in one file of each adapter. A query that
 * a handler uses becomes a part of `PlantOperations`.
 */
export type PlantQueries = {
  /**
   * Resolves with the plants whose ids are at least `from`, in the order of their ids: at most `limit` of them.
   */
  list(from: bigint, limit: number): Promise<StoredPlant[]>
}

/** Reports that a store cannot respond now. The outcome of the write is unknown, and a retry is safe. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  /** Seconds until the next try. */
  readonly retryAfter = 1
}

/** A row of the table plants, in any database. */
export type PlantRow<Id = bigint> = { id: Id; name: string; tag: string | null }

/** Converts a row to a plant. */
export const plantFromRow = ({ id, name, tag }: PlantRow): StoredPlant =>
  tag === null ? { id, name } : { id, name, tag }
