import type { components } from '../../generated/api.d.ts'

/** A plant with the id that its client chose. */
export type NewPlant = components['schemas']['NewPlant']

/**
 * What became of a create: the plant is new, or it is there already with the same name and tag, or its id belongs to
 * another plant and nothing was changed. A missing tag is not an empty one.
 */
export type CreateOutcome = 'created' | 'identical' | 'conflict'

/** Where plants are kept. A store that cannot answer now rejects with an error whose `retryAfter` is in seconds. */
export type PlantStore = {
  /** Resolves once the outcome is as durable as the store ever makes it; also an identical plant is durable by then. */
  create(plant: NewPlant): Promise<CreateOutcome>
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
  /** Resolves with the reason when the store can never answer again, and the process must end. */
  failure?: Promise<Error>
}
