import type { Postgres } from '../../scripts/postgres/temporary-postgres.ts'
import { isPlant } from './generated-plants.ts'
import type { Journal } from './outcomes.ts'
import type { FileFindings } from './sqlite-file.ts'

/** Sends SIGKILL to every process of a PostgreSQL server; resolves when it has ended. */
export async function killServer(server: Postgres): Promise<void> {
  const processes = (await server.query('SELECT pid FROM pg_stat_activity')) as { pid: number }[]
  const ended = server.stop('kill')
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The backend of the query has already ended.
    }
  }
  await ended
}

/** Compares the rows of a running server with a journal; returns the numbers of lost plants and phantoms. */
export async function inspectRows(
  server: Pick<Postgres, 'query'>,
  { sent, acknowledged }: Journal,
): Promise<Pick<FileFindings, 'lost' | 'phantoms'>> {
  const rows = (await server.query('SELECT id, name, tag FROM plants')) as Record<'id' | 'name' | 'tag', string>[]
  let found = 0
  let phantoms = 0
  for (const { name, tag, ...row } of rows) {
    const id = BigInt(row.id)
    if (!sent.has(id) || !isPlant({ id, name, tag })) phantoms++
    else if (acknowledged.has(id)) found++
  }
  return { lost: acknowledged.size - found, phantoms }
}
