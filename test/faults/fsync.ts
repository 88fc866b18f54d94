import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { until } from '../support/wait-until.ts'
import { idsOf } from './generated-plants.ts'
import { countOutcomes, isWrong, newJournal, type Outcome, startLoad } from './journaled-load.ts'
import { reportFile } from './sqlite-file.ts'

/** A sync that failed may have lost what it was to keep: the service says 200 to nothing more, and ends. */
export const fsync: Scenario = { title: 'every sync fails from some moment on', needs: ['strace'], run }

async function run(report: Report, { directory, random }: ScenarioOptions): Promise<void> {
  const path = join(directory, 'plants.db')
  const traces = join(directory, 'traces')
  await mkdir(traces)
  const firstToFail = 50 + random.below(200)
  const inject = `inject=fsync,fdatasync:error=EIO:when=${firstToFail}+`
  const options = ['-ff', '-qq', '-y', '-ttt', '-T', '--seccomp-bpf', '-o', join(traces, 'thread')]
  const command = ['strace', ...options, '-e', 'trace=fsync,fdatasync', '-e', inject]

  const service = await startService(`sqlite:${path}`, { command })
  const journal = newJournal()
  // No retries: a plant that is kept already is rightly acknowledged without a sync.
  const load = startLoad(service.port, { ids: idsOf(random, 0), journal })
  let endedAt = Number.NaN
  void service.ended.then(() => {
    endedAt = Date.now()
  })
  const byItself = await until(() => !Number.isNaN(endedAt))
  const [{ code }] = await Promise.all([service.kill(), load.stop()])
  const syncs = await readSyncs(traces)
  const failure = syncs.find(({ failed }) => failed)?.start ?? Number.NaN

  for (const [status, count] of Object.entries(countOutcomes(load.outcomes))) report.figure(`answers: ${status}`, count)
  report.figure('syncs before the first that failed', syncs.filter(({ failed }) => !failed).length)
  report.notZero('syncs failed', syncs.filter(({ failed }) => failed).length)
  report.zero('wrong answers', load.outcomes.filter(isWrong).length)
  report.zero(
    '200 to what was sent after the failure',
    load.outcomes.filter((outcome) => isTaken(outcome) && outcome.sentAt > failure).length,
  )
  report.zero(
    '200 without a sync of the journal',
    load.outcomes.filter((outcome) => isTaken(outcome) && !isSynced(outcome, syncs)).length,
  )
  report.zero('service that does not end', byItself ? 0 : 1)
  report.figure('from the failure to the end (ms)', Math.round(endedAt - failure))
  report.notZero('exit code', code ?? 0)
  const reason = service.stderr().trimEnd().split('\n')
  report.figure('stderr', JSON.stringify(reason[0]))
  report.zero('lines on stderr besides one with the reason', reason[0] === '' ? 1 : reason.length - 1)

  await (await startService(`sqlite:${path}`)).stop()
  reportFile(report, path, journal)
}

/** Milliseconds since the epoch. */
type Sync = { path: string; start: number; end: number; failed: boolean }

async function readSyncs(traces: string): Promise<Sync[]> {
  const syncs: Sync[] = []
  for (const name of await readdir(traces)) {
    const text = await readFile(join(traces, name), 'utf8')
    for (const line of text.matchAll(/^([\d.]+) f(?:data)?sync\(\d+<(.*)>\) += (-?\d+).* <([\d.]+)>$/gm)) {
      const [start, path = '', result, seconds] = [Number(line[1]) * 1_000, line[2], line[3], Number(line[4])]
      syncs.push({ path, start, end: start + seconds * 1_000, failed: result !== '0' })
    }
  }
  return syncs.sort((a, b) => a.start - b.start)
}

const isTaken = ({ status }: Outcome): boolean => status === 200

/** Whether the journal was synced between the request and its answer, whose times are whole milliseconds. */
const isSynced = ({ sentAt, endedAt }: Outcome, syncs: Sync[]): boolean =>
  syncs.some(
    ({ path, start, end, failed }) => !failed && path.endsWith('-wal') && start >= sentAt && end <= endedAt + 1,
  )
