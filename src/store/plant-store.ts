/** A plant as a store keeps it. It is no type of the contract: handlers convert, so that a change on the wire ends there. */
export type StoredPlant = { id: bigint; name: string; tag?: string }

/**
 * What became of a create: the plant is new, or it is there already with the same name and tag, or its id belongs to
 * another plant and nothing was changed. A missing tag is not an empty one.
 */
export type CreateOutcome = 'created' | 'identical' | 'conflict'

/** What handlers ask of a store. A store that cannot answer now rejects with an error whose `retryAfter` is in seconds. */
export type PlantOperations = {
  /** Resolves once the outcome is as durable as the store ever makes it; also an identical plant is durable by then. */
  create(plant: StoredPlant): Promise<CreateOutcome>
}

/** Where plants are kept. */
export type PlantStore = PlantOperations & {
  /**
   * Resolves when a create would be durable now, as a write shows that leaves no plant; rejects with the reason when it
   * would not. The service asks every few seconds while there are no creates, and every second while creates fail.
   */
  ready(): Promise<void>
  /**
   * Resolves when every create that was taken has its outcome and all resources are released, however often it is
   * called; from then on the others reject.
   */
  close(): Promise<void>
  /**
   * Resolves with operations that do the same work as the store's own but keep nothing. The service calls them before it is
   * ready, so that V8 has compiled their code when requests arrive.
   */
  rehearsal?(): Promise<PlantOperations>
  /** Resolves with the reason when the store can never answer again, and the process must end. */
  failure?: Promise<Error>
}

/** Reads a database of plants, while a service has it open or not. */
export type PlantReader = PlantQueries & Pick<PlantStore, 'close'>

/**
 * What a database of plants answers besides. A query has its type here and its code in one file of each adapter; what
 * handlers use of them becomes a part of `PlantOperations`.
 */
export type PlantQueries = {
  /** Resolves with the plant of an id, undefined when there is none. */
  get(id: bigint): Promise<StoredPlant | undefined>
  /**
   * Resolves with the plants from an id on, in the order of their ids: at most `limit` of them, fewer when they are large,
   * and none only when there are none.
   */
  list(from: bigint, limit: number): Promise<StoredPlant[]>
  /** Resolves with the number of the plants from an id on, of at most `limit` of them, and the last id that was counted. */
  count(from: bigint, limit: number): Promise<{ count: number; last: bigint | undefined }>
}
