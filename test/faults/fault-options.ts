import type { Scenario } from '../scenarios/scenario-runner.ts'
import type { Random } from './seeded-random.ts'

export type FaultOptions = {
  directory: string
  random: Random
  /** How many times a process is killed. */
  rounds: number
  /** How many times a PostgreSQL server goes away. */
  outages: number
  /** How many crash images of a disk are checked. */
  images: number
  /** How many creates must be answered before their histories are checked. */
  operations: number
  /** The store to kill the service on; default: a SQLite file in the directory. */
  store: string | undefined
}

export type Fault = Scenario<FaultOptions>
