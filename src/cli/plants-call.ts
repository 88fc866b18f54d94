import type { Readable, Writable } from 'node:stream'
import type { Screen } from './progress-bar.ts'

/** The streams of a command, and the signal that interrupts it. */
export type Terminal = { stdin: Readable; stdout: Writable; stderr: Screen; interrupt: AbortSignal }

/** The arguments of a command of `plant-store plants`. `limit` is the maximum size of a plant in bytes. */
export type PlantsCall = {
  given: Partial<Record<string, string>>
  operand: string | undefined
  storeUrl: string
  limit: number
  terminal: Terminal
}
