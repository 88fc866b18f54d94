import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { startPostgres } from '../../../scripts/postgres/temporary-postgres.ts'
import type { Fault, FaultOptions } from '../fault-options.ts'
import type { Random } from '../seeded-random.ts'
import { contentOf } from './contended-creates.ts'
import { countViolations, isContended, isRaced, unexplainedText } from './history-figures.ts'
import { startTrio } from './instance-trio.ts'
import type { History } from './plant-history.ts'
import { startFaults } from './random-faults.ts'
import { startRecordedLoad } from './recorded-load.ts'

/** Defective stores that each break the contract in another way; the check must detect every one of them. */
const controls = ['early-store.js', 'unguarded-store.js', 'overwriting-store.js']
const controlOperations = 3_000

/** Deadline of a run (ms), far longer than a busy machine needs. */
const patience = 3_600_000

/** Under all faults, the responses of all instances must match one store in which the first write of an id wins. */
export const linearizability: Fault = {
  title: 'three instances race for ids while networks, instances and PostgreSQL fail',
  needs: [],
  async run(report, options) {
    await look(report, options)
    for (const control of controls) {
      const prefix = `module:./test/faults/histories/${control}?`
      const { histories } = await record(options.random, controlOperations, prefix)
      const why = countViolations(histories)
      report.notZero(`${control}: ids unexplained`, why.all)
      for (const [reason, ids] of why.counts) report.figure(`${control}: ${reason}`, ids)
    }
  },
}

async function look(report: Report, { directory, random, operations }: FaultOptions): Promise<void> {
  const { histories, load, faults, codes } = await record(random, operations, '')
  const all = [...histories.values()]
  report.atLeast('operations with an outcome', load.answered(), operations)
  report.figure('operations without an outcome', all.flat().filter(({ outcome }) => outcome === 'unknown').length)
  for (const [answer, times] of load.answers) report.figure(`answers: ${answer}`, times)
  report.figure('ids', all.length)
  report.atLeast('contended ids (%)', Math.round((100 * all.filter(isContended).length) / all.length), 49)
  report.notZero('ids whose contended creates overlap', all.filter(isRaced).length)
  for (const [fault, times] of faults) report.notZero(fault, times)
  report.zero('wrong answers', load.wrong())
  report.zero('exit codes other than 0', codes.filter((code) => code !== 0).length)
  const why = countViolations(histories)
  report.zero('ids unexplained', why.all)
  for (const [reason, ids] of why.counts) report.figure(reason, ids)
  await writeFile(join(directory, 'unexplained.txt'), unexplainedText(histories))
}

/** Records the history of each id until `operations` writes are answered and every kind of fault has occurred. */
async function record(random: Random, operations: number, prefix: string) {
  const server = await startPostgres()
  const instances = await startTrio(server, random, prefix)
  const ports = instances.map(({ port }) => port)
  const load = startRecordedLoad(ports, random)
  const faults = startFaults(server, instances, random)
  const hasAll = () => load.answered() >= operations && [...faults.counts.values()].every((times) => times > 0)
  await until(hasAll, () => `${operations} answered creates and each fault; ${load.answered()} were answered`, patience)
  await load.stop()
  await faults.stop()
  const codes = await Promise.all(instances.map((instance) => instance.stop()))

  const histories = new Map<bigint, History>(load.histories)
  const start = performance.now()
  const rows = await server.query('SELECT id, name, tag FROM plants')
  const end = performance.now()
  const stored = new Map(
    rows.map((row) => [BigInt(row.id as string), contentOf(row as { name: string; tag: string | null })]),
  )
  for (const [id, history] of histories) history.push({ outcome: 'read', content: stored.get(id), start, end })
  for (const [id, content] of stored)
    if (!histories.has(id)) histories.set(id, [{ outcome: 'read', content, start, end }])
  await server.close()
  return { histories, load, faults: faults.counts, codes }
}
