import { join } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Postgres } from '../../scripts/postgres/temporary-postgres.ts'
import type { Fault } from './fault-options.ts'
import { count, isAcknowledged, isDisconnected, isUnavailable, isWrong, longestWait } from './outcomes.ts'
import type { Random } from './seeded-random.ts'
import { type Interrupt, loseStandby } from './standby-loss.ts'
import { copyWeaker } from './weaker-build.ts'

const signalWaiting = (name: 'pg_cancel_backend' | 'pg_terminate_backend') => (primary: Postgres) =>
  primary.query(`SELECT ${name}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)

/** Ways to end a commit's wait for its standby early. Each leaves the rows on the primary only. */
const interruptions: Record<string, Interrupt> = {
  cancel: signalWaiting('pg_cancel_backend'),
  terminate: signalWaiting('pg_terminate_backend'),
  async restart(primary) {
    await primary.stop('immediate')
    await primary.start()
  },
}

/** Weakened builds: the replacements in the code, and the interruptions that must then lose a plant. */
const controls = {
  'warnings ignored': { changes: { 'startsWith("01")': 'startsWith("none")' }, ways: ['cancel'] },
  'no lock': { changes: { ' FOR SHARE': '' }, ways: Object.keys(interruptions) },
}

/** A plant that exists only on the primary is never acknowledged, because the standby may be promoted. */
export const postgresStandby: Fault = {
  title: 'the synchronous standby is away, commits are interrupted, then the standby is promoted',
  needs: [],
  async run(report, { directory, random }) {
    await look(report, random, 'patience')
    for (const name of Object.keys(interruptions)) await look(report, random, name)
    for (const [control, { changes, ways }] of Object.entries(controls)) {
      const project = join(directory, control)
      await copyWeaker(project, changes)
      for (const name of ways) {
        const { away, lost } = await loseStandby(random, { interrupt: interruptions[name], project })
        report.notZero(`${control}, ${name}: 200 while away`, count(away, isAcknowledged))
        report.notZero(`${control}, ${name}: lost`, lost)
      }
    }
  },
}

async function look(report: Report, random: Random, name: string): Promise<void> {
  const interrupt = interruptions[name]
  const found = await loseStandby(random, { interrupt })
  const { before, away } = found
  report.zero(`${name}: not 200 before the outage`, before.length - count(before, isAcknowledged))
  if (interrupt) {
    report.notZero(`${name}: waits interrupted`, found.waits)
    report.notZero(`${name}: plants on the primary only`, found.kept)
  }
  report.notZero(`${name}: 503 while away`, count(away, isUnavailable))
  report.zero(`${name}: 200 while away`, count(away, isAcknowledged))
  report.zero(`${name}: wrong answers`, count(away, isWrong))
  report.zero(`${name}: failed connections`, count(away, isDisconnected))
  report.figure(`${name}: longest wait for a response (ms)`, longestWait(away))
  report.figure(`${name}: backends still waiting`, found.left)
  report.zero(`${name}: lost on the standby`, found.lost)
  report.zero(`${name}: phantom on the standby`, found.phantoms)
  report.zero(`${name}: rejected by the promoted standby`, found.refused)
  report.zero(`${name}: exit code`, found.code ?? -1)
}
