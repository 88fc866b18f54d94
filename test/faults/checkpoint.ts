import { join } from 'node:path'
import { startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { until } from '../support/wait-until.ts'
import { idsOf } from './generated-plants.ts'
import { countOutcomes, isWrong, newJournal, startLoad } from './journaled-load.ts'
import { reportFile } from './sqlite-file.ts'

/** The journal keeps what is committed, but grows for ever: it must not go unnoticed. */
export const checkpoint: Scenario = {
  title: 'every sync of the file, not of its journal, fails',
  needs: ['strace'],
  run,
}

async function run(report: Report, { directory, random }: ScenarioOptions): Promise<void> {
  const path = join(directory, 'plants.db')
  await (await startService(`sqlite:${path}`)).stop()
  const options = ['-f', '-qq', '-o', join(directory, 'trace'), '-P', path, '-e', 'trace=fsync,fdatasync']
  const command = ['strace', ...options, '-e', 'inject=fsync,fdatasync:error=EIO:when=3+']

  const service = await startService(`sqlite:${path}`, { command })
  const journal = newJournal()
  const load = startLoad(service.port, { ids: idsOf(random), journal })
  let ended = false
  void service.ended.then(() => {
    ended = true
  })
  const byItself = await until(() => ended)
  const [{ code }] = await Promise.all([service.kill(), load.stop()])
  for (const [status, count] of Object.entries(countOutcomes(load.outcomes))) report.figure(`answers: ${status}`, count)
  report.zero('wrong answers', load.outcomes.filter(isWrong).length)
  report.zero('service that does not end', byItself ? 0 : 1)
  report.notZero('exit code', code ?? 0)
  report.figure('stderr', JSON.stringify(service.stderr().trimEnd()))

  await (await startService(`sqlite:${path}`)).stop()
  reportFile(report, path, journal)
}
