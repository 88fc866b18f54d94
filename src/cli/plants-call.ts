import type { Readable, Writable } from 'node:stream'
import type { Screen } from './progress-bar.ts'

/** The streams of a command, and what asks it to end. */
export type Terminal = { stdin: Readable; stdout: Writable; stderr: Screen; interrupt: AbortSignal }

/**
 * What was given to a command of `plant-store plants`, and where; `limit` is the greatest number of bytes of a plant.
 */
export type PlantsCall = {
  given: Partial<Record<string, string>>
  operand: string | undefined
  storeUrl: string
  limit: number
  terminal: Terminal
}
