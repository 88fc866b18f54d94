import type { Report } from 'fastify-contract-test-support/scenario-report'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { createWithKills } from '../idempotency/killed-instances.ts'
import type { Fault, FaultOptions } from './fault-options.ts'

/** The maximum time from the start of an instance to a kill, in milliseconds. */
const pause = 10_000

/** Creates with idempotency keys are done once, if the handler writes in the transaction of its key. */
export const idempotency: Fault = {
  title: 'kill -9 of two instances over one PostgreSQL during creates with idempotency keys',
  needs: [],
  async run(report, options) {
    await endure(report, options, true)
    await endure(report, options, false)
  },
}

async function endure(report: Report, { creates, random }: FaultOptions, isTransactional: boolean): Promise<void> {
  const name = isTransactional ? 'one transaction' : 'two transactions'
  // Only the instances are killed, so PostgreSQL need not wait for the disk.
  const server = await startPostgres({ settings: { fsync: 'off' } })
  const found = await createWithKills({ url: server.url(), creates, isTransactional, random, pause })
  report.figure(`${name}: creates`, creates)
  for (const figure of ['kills', 'requests', 'replays', 'conflicts'] as const)
    report.notZero(`${name}: ${figure}`, found[figure])
  report.zero(`${name}: lost`, found.lost)
  report.zero(`${name}: wrong answers`, found.wrong.length)
  if (found.wrong[0] !== undefined) report.figure(`${name}: wrong answer`, found.wrong[0])
  // The control: without a common transaction, the kills must hit the time between both.
  if (isTransactional) report.zero(`${name}: created twice`, found.twice)
  else report.notZero(`${name}: created twice`, found.twice)
  await server.close()
}
