import { join } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { reportOutcomes } from './outcomes.ts'
import { exitsOnItsOwn } from './service-exit.ts'
import { reportFile } from './sqlite-file.ts'

/** A failing checkpoint loses nothing but lets the write-ahead log grow without end, so the service must exit. */
export const checkpoint: Fault = {
  title: 'every sync of the database file fails, but none of its write-ahead log',
  needs: ['strace'],
  run,
}

async function run(report: Report, { directory, random }: FaultOptions): Promise<void> {
  const path = join(directory, 'plants.db')
  await (await startService(`sqlite:${path}`)).stop()
  const options = ['-f', '-qq', '-o', join(directory, 'trace'), '-P', path, '-e', 'trace=fsync,fdatasync']
  const command = ['strace', ...options, '-e', 'inject=fsync,fdatasync:error=EIO:when=3+']

  const service = await startService(`sqlite:${path}`, { command })
  const load = startLoad(service.port, { ids: idsOf(random) })
  const byItself = await exitsOnItsOwn(service)
  const [{ code }] = await Promise.all([service.kill(), load.stop()])
  reportOutcomes(report, load.outcomes)
  report.zero('services that did not end', byItself ? 0 : 1)
  report.notZero('exit code', code ?? 0)
  report.figure('stderr', JSON.stringify(service.stderr().trimEnd()))

  await (await startService(`sqlite:${path}`)).stop()
  reportFile(report, path, load.journal)
}
