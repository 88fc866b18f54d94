import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import type { Fault } from './fault-options.ts'
import { inspectRows } from './postgres-rows.ts'
import { killRounds } from './service-kill.ts'

/** Repeats `kill` with PostgreSQL as the store, and finally compares its rows with the journal. */
export const postgresKill: Fault = {
  title: 'kill -9 of the service during load, on the same PostgreSQL each time',
  needs: [],
  async run(report, options) {
    const server = await startPostgres()
    const journal = await killRounds(report, { ...options, store: server.url() })
    const { lost, phantoms } = await inspectRows(server, journal)
    report.zero('lost, by the rows', lost)
    report.zero('phantom, by the rows', phantoms)
    await server.close()
  },
}
