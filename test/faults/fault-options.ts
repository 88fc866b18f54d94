import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import type { Random } from './seeded-random.ts'

export type FaultOptions = {
  directory: string
  random: Random
  /** Number of kills of a process. */
  rounds: number
  /** Number of outages of PostgreSQL. */
  outages: number
  /** Number of crash images of a disk to check. */
  images: number
  /** Number of writes that must be answered before their histories are checked. */
  operations: number
  /** Number of creates with idempotency keys. */
  creates: number
  /** STORE_URL for the scenario `kill`; default: a SQLite file in the directory. */
  store: string | undefined
}

export type Fault = Scenario<FaultOptions>
