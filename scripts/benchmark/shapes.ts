import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertWorks,
  type Implementation,
  type Installation,
  type Served,
  type Server,
  start,
} from './implementations.ts'
import { closedLoop, type Load, type LoadFigures, sendRequests } from './load.ts'
import { templates } from './requests.ts'
import { addSlice, type Figure, type Results, type Row } from './results.ts'
import { shuffled } from './statistics.ts'
import type { QuietSlices } from './steal.ts'

/** Seconds of load on each server before its first measurement: V8 optimizes for several seconds, on the same core. */
const warmUp = 6

/** Seconds without a request, before and while the idle processes are measured. */
const idle = { before: 1, measured: 3 }

/**
 * A load on a running server: requests from connections that wait for each response, or at a constant rate. The figures
 * are those of the page; the command prints all.
 */
type Shape = {
  name: string
  template: string
  connections: number
  rate?: number
  /** How many times as long as the others it takes; default: once. */
  length?: number
  figures: Figure[]
}

/** Servers of one kind, which run side by side, and the shapes that each of them is measured with. */
export type Servers = {
  served: Served
  /** How the rows about its start and its idle processes are named. */
  name: string
  implementations: Implementation[]
  /** The rows of a start; default: only the start itself. */
  starts?: Figure[]
  isIdleMeasured?: boolean
  shapes: Shape[]
}

const both: Implementation[] = ['fastify', 'service', 'before']
const { plant, exactPlant, operation, batchOf16KiB, batchOf200KiB, list, exactList } = templates

const closed = (connections: number): Shape => ({
  name: connections === 1 ? '1 connection' : `${connections} connections`,
  template: plant,
  connections,
  figures: ['cpu'],
})
/** Three times as long where there are few requests, because p99.9 needs some thousand. */
const open = (rate: number): Shape => ({
  name: `${rate.toLocaleString('en-US')} requests/s`,
  template: plant,
  connections: 64,
  rate,
  length: rate < 5_000 ? 3 : 1,
  figures: ['cpu', 'p999'],
})
const at64 = (name: string, template: string, ...more: Figure[]): Shape => ({
  name,
  template,
  connections: 64,
  figures: ['cpu', ...more],
})

/** The servers of each group, in the order of the page. */
export const servers: Record<'memory' | 'sqlite' | 'operations' | 'peers', Servers[]> = {
  memory: [
    {
      served: 'plants',
      name: 'in memory',
      implementations: both,
      starts: ['start', 'slowest'],
      isIdleMeasured: true,
      shapes: [...[1, 8, 64, 512].map(closed), open(1_000), open(5_000), at64('ids beyond 2^53', exactPlant)],
    },
  ],
  sqlite: [
    {
      served: 'sqlite',
      name: 'SQLite',
      implementations: both,
      shapes: [
        { ...closed(1), name: 'SQLite, 1 connection', figures: ['cpu', 'rate', 'p50'] },
        { ...closed(64), name: 'SQLite, 64 connections', figures: ['cpu', 'rate'] },
      ],
    },
  ],
  operations: [
    {
      served: 1,
      name: '1 operation',
      implementations: both,
      starts: [],
      shapes: [
        at64('body of 16 KiB', batchOf16KiB),
        at64('body of 200 KiB', batchOf200KiB),
        at64('list of 1,000', list),
        at64('list beyond 2^53', exactList),
      ],
    },
    {
      served: 500,
      name: '500 operations',
      implementations: both,
      starts: ['start', 'first'],
      shapes: [at64('500 operations', operation, 'p99')],
    },
  ],
  peers: [
    {
      served: 'plants',
      name: 'in memory',
      implementations: ['fastify', 'node-http', 'queue', 'bearer-auth', 'glue', 'service', 'log'],
      shapes: [closed(64), open(5_000)],
    },
  ],
}

export type Options = {
  seconds: number
  /** The only implementations to measure; default: all of a group. */
  only: readonly string[] | undefined
  /** The directory of another build of the service. */
  before: string | undefined
  slices: QuietSlices
}

/** The number of a round, and the results that it adds to. */
export type Round = { round: number; results: Results }

/** Returns whether a row of some servers is on the page. */
export const isOnPage =
  (all: Servers[]) =>
  ({ row, figure }: Row): boolean =>
    all.some(
      ({ name, starts = ['start'], shapes }) =>
        (row === name && [...starts, 'share', 'wakeUps'].includes(figure)) ||
        shapes.some((shape) => shape.name === row && shape.figures.includes(figure)),
    )

/**
 * Measures a round and adds its results: starts each server in a new process, measures each with all shapes, and stops
 * it. The servers take turns in random order. Rejects if a server does wrong work.
 */
export async function measureRound(group: Servers, installation: Installation, options: Options, round: Round) {
  const running: Server[] = []
  try {
    for (const implementation of chosenOf(group.implementations, options))
      running.push(await startWarm(implementation, group, installation, options, round))
    if (group.isIdleMeasured) await measureIdle(running, group.name, options, round)
    for (const shape of group.shapes)
      for (const server of shuffled(running)) await measureShape(server, shape, group.served, options, round)
  } finally {
    for (const server of running) await server.stop()
  }
}

/** Returns the chosen ones of the implementations in random order. */
export const chosenOf = (implementations: Implementation[], { only, before }: Options): Implementation[] =>
  shuffled(
    implementations.filter(
      (implementation) =>
        (implementation !== 'before' || before !== undefined) && (only?.includes(implementation) ?? true),
    ),
  )

/** Starts a server, measures its start, asserts that it does its work, and sends requests of each kind. */
async function startWarm(
  implementation: Implementation,
  { served, name, shapes }: Servers,
  installation: Installation,
  { seconds, before, slices }: Options,
  { round, results }: Round,
): Promise<Server> {
  const started = await slices.measure(
    () => start(implementation, served, installation, before),
    (dropped) => dropped.stop(),
  )
  const server = started.result
  const add = (figure: Figure, value: number) =>
    addSlice(results, { row: name, round, implementation }, { ...started, result: { [figure]: value } })
  add('start', server.startTime)
  if (typeof served === 'number') {
    // One request for each operation, one after the other.
    const load = loadOf(server, served, operation, 1)
    add('first', countIds(server, load, await sendRequests(load, { seconds: 60, count: served })).p50)
  } else {
    const load = loadOf(server, served, plant, 64)
    add('slowest', countIds(server, load, await sendRequests(load, { seconds: 1, rate: 5_000 })).max)
  }
  await assertWorks(server, served)
  for (const [index, template] of [...new Set(shapes.map((shape) => shape.template))].entries()) {
    const load = loadOf(server, served, template, 64)
    countIds(server, load, await sendRequests(load, { seconds: index === 0 ? warmUp : 2 * seconds }))
  }
  return server
}

/** Measures what processes use that have no connection, all at once. */
async function measureIdle(running: Server[], row: string, { slices }: Options, { round, results }: Round) {
  await sleep(1_000 * idle.before)
  const { result, isQuiet } = await slices.measure(async function measureAll() {
    const before = running.map((server) => ({ cpu: server.cpu(), wakeUps: server.wakeUps() }))
    await sleep(1_000 * idle.measured)
    return running.map(function usageOf(server, index) {
      const { cpu = 0, wakeUps = 0 } = before[index] ?? {}
      return {
        share: (100 * (server.cpu() - cpu)) / idle.measured,
        wakeUps: (server.wakeUps() - wakeUps) / idle.measured,
      }
    })
  })
  for (const [index, { implementation }] of running.entries())
    addSlice(results, { row, round, implementation }, { result: result[index] ?? {}, isQuiet })
}

async function measureShape(
  server: Server,
  { name: row, template, connections, rate, length = 1 }: Shape,
  served: Served,
  options: Options,
  { round, results }: Round,
): Promise<void> {
  const { implementation } = server
  const seconds = options.seconds * length
  const slice = await options.slices.measure(() =>
    measureLoad(server, loadOf(server, served, template, connections), row, (load) =>
      rate === undefined ? closedLoop(load, seconds) : sendRequests(load, { seconds, rate }),
    ),
  )
  addSlice(results, { row, round, implementation }, slice)
}

/** Returns the figures of a load, with the CPU of each correct response in microseconds. */
export async function measureLoad(
  server: Server,
  load: Load,
  name: string,
  run: (load: Load) => Promise<LoadFigures>,
): Promise<Record<'cpu' | 'rate' | 'p50' | 'p99' | 'p999', number>> {
  const before = server.cpu()
  const { answers, errors, seconds, p50, p99, p999 } = countIds(server, load, await run(load))
  if (answers === 0) throw new Error(`${server.implementation}, ${name}: no response with 200`)
  if (errors > 0) console.error(`${server.implementation}, ${name}: ${errors} of ${answers} failed`)
  return { cpu: (1e6 * (server.cpu() - before)) / answers, rate: answers / seconds, p50, p99, p999 }
}

/** Returns a load on a server with ids that it does not have yet. */
export const loadOf = (
  { port, nextId: first }: Server,
  served: Served,
  template: string,
  connections: number,
): Load => ({ port, template, operations: typeof served === 'number' ? served : 1, first, connections })

/** Skips the ids that a load has used, also for the requests that were in flight at its end. */
export function countIds(server: Server, { connections }: Load, counted: LoadFigures): LoadFigures {
  server.nextId += counted.answers + counted.errors + 2 * connections
  return counted
}
