import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, type Outcome, reportOutcomes } from './outcomes.ts'
import { exitsOnItsOwn } from './service-exit.ts'
import { reportFile } from './sqlite-file.ts'

/** A failed sync may have lost data, so the service must acknowledge nothing more and exit. */
export const fsync: Fault = { title: 'every sync fails from a random one on', needs: ['strace'], run }

async function run(report: Report, { directory, random }: FaultOptions): Promise<void> {
  const path = join(directory, 'plants.db')
  const traces = join(directory, 'traces')
  await mkdir(traces)
  const firstToFail = 50 + random.below(200)
  const inject = `inject=fsync,fdatasync:error=EIO:when=${firstToFail}+`
  const options = ['-ff', '-qq', '-y', '-ttt', '-T', '--seccomp-bpf', '-o', join(traces, 'thread')]
  const command = ['strace', ...options, '-e', 'trace=fsync,fdatasync', '-e', inject]

  const service = await startService(`sqlite:${path}`, { command })
  // No repeated ids: a plant that is already stored is acknowledged without a sync.
  const load = startLoad(service.port, { ids: idsOf(random, 0) })
  const byItself = await exitsOnItsOwn(service)
  const endedAt = byItself ? Date.now() : Number.NaN
  const [{ code }] = await Promise.all([service.kill(), load.stop()])
  const syncs = await readSyncs(traces)
  const failure = syncs.find(({ failed }) => failed)?.start ?? Number.NaN

  reportOutcomes(report, load.outcomes)
  report.figure('syncs before the first that failed', syncs.filter(({ failed }) => !failed).length)
  report.notZero('syncs failed', syncs.filter(({ failed }) => failed).length)
  report.zero(
    '200 for requests sent after the failure',
    count(load.outcomes, (outcome) => isAcknowledged(outcome) && outcome.sentAt > failure),
  )
  report.zero(
    '200 without a sync of the write-ahead log',
    count(load.outcomes, (outcome) => isAcknowledged(outcome) && !isSynced(outcome, syncs)),
  )
  report.zero('services that did not end', byItself ? 0 : 1)
  report.figure('from the failure to the end (ms)', Math.round(endedAt - failure))
  report.notZero('exit code', code ?? 0)
  const reason = service.stderr().trimEnd().split('\n')
  report.figure('stderr', JSON.stringify(reason[0]))
  report.zero('lines on stderr other than one with the reason', reason[0] === '' ? 1 : reason.length - 1)

  await (await startService(`sqlite:${path}`)).stop()
  reportFile(report, path, load.journal)
}

/** One sync; times are milliseconds since the epoch. */
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

/** Returns whether the write-ahead log was synced between the request and its response (whole milliseconds). */
const isSynced = ({ sentAt, endedAt }: Outcome, syncs: Sync[]): boolean =>
  syncs.some(
    ({ path, start, end, failed }) => !failed && path.endsWith('-wal') && start >= sentAt && end <= endedAt + 1,
  )
