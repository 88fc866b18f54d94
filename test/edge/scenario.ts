import type { Report } from '../scenarios/scenario-report.ts'

export type Scenario = {
  /** What it does, in one line. */
  title: string
  /** Takes a directory of its own, which is removed when nothing has failed. */
  run(report: Report, directory: string): Promise<void>
}
