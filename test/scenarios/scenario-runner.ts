import { spawnSync } from 'node:child_process'
import type { Random } from '../faults/seeded-random.ts'
import type { Report } from './scenario-report.ts'

export type ScenarioOptions = {
  /** A directory of its own, which is removed when nothing has failed. */
  directory: string
  random: Random
  /** How many times a process is killed. */
  rounds: number
  /** How many times a server of PostgreSQL is taken away. */
  outages: number
  /** How many images of a disk are looked at. */
  images: number
  /** The store to kill the service on, in place of a SQLite file in the directory. */
  storeUrl: string | undefined
}

export type Scenario = {
  /** What it does, in one line. */
  title: string
  needs: (keyof typeof needs)[]
  run(report: Report, options: ScenarioOptions): Promise<void>
}

/** What a scenario can need of the machine, and whether that is there. */
export const needs = {
  strace: () => spawnSync('strace', ['-V']).status === 0,
  'root on Linux': () => process.platform === 'linux' && process.getuid?.() === 0,
}
