import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { type Postgres, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import * as outcomes from './outcomes.ts'
import { count, isAcknowledged, isUnavailable, newJournal } from './outcomes.ts'
import { inspectRows, killServer } from './postgres-rows.ts'
import type { Random } from './seeded-random.ts'
import { killRounds } from './service-kill.ts'
import { copyWeaker } from './weaker-build.ts'

/** The maximum time (ms) from the end of an outage to the first successful create. */
const longestRecovery = 5_000

/** The number of writes that must succeed after an outage before the load ends. */
const plantsAfter = 100

/** Milliseconds between two interruptions of commits. */
const pause = 300

type Servers = Awaited<ReturnType<typeof start>>

/** One way in which PostgreSQL is away. */
type Outage = {
  begin(servers: Servers): Promise<void>
  /** The minimum duration, in milliseconds. */
  lasts: number
  /** Ends all current waits of commits for the standby; repeated during the outage. */
  interrupt?: (primary: Postgres) => Promise<unknown>
  /** Runs without load, after the plants that were rejected are sent again. */
  worsen?: (servers: Servers) => Promise<void>
  /** Ends the outage; resolves with the server that then takes writes. */
  end(servers: Servers): Promise<Postgres>
}

const stopped = (stop: (server: Postgres) => Promise<void>): Outage => ({
  begin: ({ primary }) => stop(primary),
  lasts: 1_000,
  async end({ primary }) {
    await primary.start()
    return primary
  },
})

const withoutStandby = (interrupt?: Outage['interrupt']): Outage => ({
  begin: async ({ standby }) => await standby?.stop('fast'),
  // Without interruptions, each wait lasts until the service times out.
  lasts: interrupt === undefined ? 9_000 : 4_000,
  ...(interrupt && { interrupt }),
  worsen: ({ primary }) => killServer(primary),
  async end({ standby }) {
    await standby?.start()
    return await promoted(standby)
  },
})

async function promoted(standby: Postgres | undefined): Promise<Postgres> {
  if (standby === undefined) throw new Error('this outage needs a standby')
  await standby.promote()
  return standby
}

const signalWaiting = (name: 'pg_cancel_backend' | 'pg_terminate_backend') => (primary: Postgres) =>
  primary.query(`SELECT ${name}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)

/** The outages of each scenario. With a synchronous standby, each outage has servers of its own. */
const outages: Record<'restart' | 'failover' | 'standby', Record<string, Outage>> = {
  restart: {
    fast: stopped((server) => server.stop('fast')),
    immediate: stopped((server) => server.stop('immediate')),
    'kill -9': stopped(killServer),
  },
  failover: {
    promotion: { begin: ({ primary }) => killServer(primary), lasts: 0, end: ({ standby }) => promoted(standby) },
  },
  // A plant that exists only on the primary must never be acknowledged, because the standby may be promoted. Each
  // interruption ends a commit's wait for its standby early, and leaves the rows on the primary only.
  standby: {
    patience: withoutStandby(),
    cancel: withoutStandby(signalWaiting('pg_cancel_backend')),
    terminate: withoutStandby(signalWaiting('pg_terminate_backend')),
    restart: withoutStandby(async (primary) => {
      await primary.stop('immediate')
      await primary.start()
    }),
  },
}

/** Weakened builds: the replacements in the code, and the outages in which the standby must then lose a plant. */
const controls = {
  'warnings ignored': { changes: { 'startsWith("01")': 'startsWith("none")' }, names: ['cancel'] },
  'no lock': { changes: { ' FOR SHARE': '' }, names: ['cancel', 'terminate', 'restart'] },
}

/** The service responds with 503 while PostgreSQL is away, loses nothing, and needs no restart. */
export const postgresFaults: Record<string, Fault> = {
  'postgres-kill': {
    title: 'kill -9 of the service during load, on the same PostgreSQL each time',
    needs: [],
    run: killOnPostgres,
  },
  'postgres-restart': {
    title: 'PostgreSQL stops during load and restarts: fast, immediate and kill -9 in turn',
    needs: [],
    run: (report, options) => endure(report, options, outages.restart, { times: options.outages }),
  },
  'postgres-failover': {
    title: 'kill -9 of the primary during load, then promotion of its synchronous standby',
    needs: [],
    run: (report, options) => endure(report, options, outages.failover, { times: options.outages, hasStandby: true }),
  },
  'postgres-standby': {
    title: 'the synchronous standby is away, commits are interrupted, then the standby is promoted',
    needs: [],
    async run(report, options) {
      await endure(report, options, outages.standby, { hasStandby: true })
      for (const [control, weakness] of Object.entries(controls)) await detect(report, options, control, weakness)
    },
  },
}

/** Repeats the scenario `kill` with PostgreSQL as the store, and finally compares its rows with the journal. */
async function killOnPostgres(report: Report, options: FaultOptions): Promise<void> {
  const server = await startPostgres()
  const journal = await killRounds(report, { ...options, store: server.url() })
  const { lost, phantoms } = await inspectRows(server, journal)
  report.zero('lost, by the rows', lost)
  report.zero('phantom, by the rows', phantoms)
  await server.close()
}

type Course = {
  /** The number of outages, each of the next kind in turn; default: one of each kind. */
  times?: number
  hasStandby?: boolean
}

async function endure(report: Report, options: FaultOptions, kinds: Record<string, Outage>, course: Course) {
  const names = Object.keys(kinds)
  const { times = names.length, hasStandby = false } = course
  const found = new Map<string, Endured[]>(names.map((name) => [name, []]))
  let servers: Servers | undefined
  let failedExits = 0
  for (let time = 0; time < times; time++) {
    const name = names[time % names.length] as string
    servers ??= await start(options.random, hasStandby)
    found.get(name)?.push(await suffer(servers, kinds[name] as Outage, options.random))
    // The outages of one server also show that the service needs no restart.
    if (!hasStandby && time < times - 1) continue
    if ((await close(servers)) !== 0) failedExits++
    servers = undefined
  }
  for (const [name, each] of found)
    if (each.length > 0) reportOutages(report, name, kinds[name]?.interrupt !== undefined, each)
  report.zero('exit codes other than 0', failedExits)
}

function reportOutages(report: Report, name: string, hasWaits: boolean, found: Endured[]): void {
  const sum = (figure: (one: Endured) => number) => found.reduce((total, one) => total + figure(one), 0)
  const most = (figure: (one: Endured) => number) => Math.max(...found.map(figure))
  const all = found.flatMap((one) => one.all)
  report.figure(`${name}: outages`, found.length)
  report.notZero(`${name}: 200`, count(all, isAcknowledged))
  report.notZero(`${name}: 503`, count(all, isUnavailable))
  report.zero(
    `${name}: 200 while away`,
    sum(({ away }) => count(away, isAcknowledged)),
  )
  report.zero(`${name}: wrong answers`, count(all, outcomes.isWrong))
  report.zero(`${name}: failed connections`, count(all, outcomes.isDisconnected))
  report.figure(`${name}: longest wait for a response (ms)`, outcomes.longestWait(all))
  if (hasWaits) {
    report.notZero(
      `${name}: waits interrupted`,
      sum(({ waits = 0 }) => waits),
    )
    report.notZero(
      `${name}: plants on the primary only`,
      sum(({ kept }) => kept),
    )
  }
  report.figure(
    `${name}: longest time without a 200 (ms)`,
    most(({ unavailable }) => unavailable),
  )
  report.figure(
    `${name}: longest recovery (ms)`,
    most(({ recovery }) => recovery),
  )
  const slow = found.filter(({ recovery }) => recovery > longestRecovery).length
  report.zero(`${name}: recoveries longer than ${longestRecovery} ms`, slow)
  report.zero(
    `${name}: retries rejected afterwards`,
    sum(({ rejected }) => rejected),
  )
  report.zero(
    `${name}: lost`,
    sum(({ lost }) => lost),
  )
  report.zero(
    `${name}: phantom`,
    sum(({ phantoms }) => phantoms),
  )
}

/** Runs outages with a weakened build, in which the scenario must detect a lost plant. */
async function detect(
  report: Report,
  { directory, random }: FaultOptions,
  control: string,
  { changes, names }: (typeof controls)[keyof typeof controls],
): Promise<void> {
  const project = join(directory, control)
  await copyWeaker(project, changes)
  for (const name of names) {
    const servers = await start(random, true, project)
    const { away, lost } = await suffer(servers, outages.standby[name] as Outage, random)
    await close(servers)
    report.notZero(`${control}, ${name}: 200 while away`, count(away, isAcknowledged))
    report.notZero(`${control}, ${name}: lost`, lost)
  }
}

async function start(random: Random, hasStandby: boolean, project = '.') {
  const primary = await startPostgres()
  const standby = hasStandby ? await primary.standby({ synchronous: true }) : undefined
  const hosts = [primary, ...(standby ? [standby] : [])].map(({ port }) => `127.0.0.1:${port}`).join()
  // At its default level the service would log each of some 100,000 rejections.
  const environment = { LOG_LEVEL: 'error' }
  const service = await startService(`postgres://postgres@${hosts}/postgres`, { project, environment })
  // No repeated ids: sending a plant again would hide its loss.
  return { primary, standby, service, journal: newJournal(), ids: idsOf(random, 0) }
}

async function close({ primary, standby, service }: Servers): Promise<number | null> {
  const { code } = await service.stop()
  await Promise.all([primary.close(), standby?.close()])
  return code
}

type Endured = Awaited<ReturnType<typeof suffer>>

/** Runs one outage during load, which begins at a random moment. */
async function suffer(servers: Servers, { begin, lasts, interrupt, worsen, end }: Outage, random: Random) {
  const { primary, service, journal, ids } = servers
  const load = (sent: Iterable<bigint>) => startLoad(service.port, { ids: sent, journal })
  const before = load(ids)
  await sleep(500 + random.below(1_000))
  await begin(servers)
  const down = Date.now()
  await before.stop()
  // So few plants that each wait for the standby is interrupted, and each plant is sent again.
  const few = Array.from({ length: 40 }, () => ids.next().value as bigint)
  const during = load(interrupt ? repeated(few) : ids)
  const waits = await (interrupt
    ? interruptFor(lasts, primary, interrupt)
    : sleep(lasts && lasts + random.below(3_000), 0))
  await during.stop()
  const undisturbed = load(interrupt ? few : [])
  await undisturbed.finished
  const kept = interrupt ? (await primary.query('SELECT FROM plants WHERE id = ANY ($1::bigint[])', [few])).length : 0
  await worsen?.(servers)
  const after = load(ids)
  const server = await end(servers)

  const up = Date.now()
  await holdsWithin(60_000, () => count(after.outcomes, isAcknowledged) >= plantsAfter)
  await after.stop()
  const first = after.outcomes.find(isAcknowledged)?.endedAt ?? Number.POSITIVE_INFINITY
  const findings = await inspectRows(server, journal)
  let rejected: bigint[] = []
  for (const limit = Date.now() + 10_000; Date.now() < limit; ) {
    rejected = [...journal.sent].filter((id) => !journal.acknowledged.has(id))
    if (rejected.length === 0) break
    await load(rejected).finished
  }
  return {
    all: [before, during, undisturbed, after].flatMap(({ outcomes }) => outcomes),
    away: [...before.outcomes.filter(({ sentAt }) => sentAt > down), ...during.outcomes, ...undisturbed.outcomes],
    waits,
    kept,
    // The server may accept writes slightly before it says so.
    recovery: Math.max(0, first - up),
    unavailable: first - down,
    rejected: rejected.length,
    ...findings,
  }
}

function* repeated(ids: bigint[]): Generator<bigint> {
  for (;;) yield* ids
}

/** Interrupts commits repeatedly; resolves with the number of waits that it found. */
async function interruptFor(lasts: number, primary: Postgres, interrupt: (primary: Postgres) => Promise<unknown>) {
  let waits = 0
  for (const end = Date.now() + lasts; Date.now() < end; ) {
    await sleep(pause)
    waits += (await primary.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length
    await interrupt(primary)
  }
  return waits
}
