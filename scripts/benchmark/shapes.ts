import { assertWorks, type Implementation, type Installation, type Served, start } from './implementations.ts'
import { closedLoop, type Load, type LoadFigures, sendRequests } from './load.ts'
import { addResult, type Results } from './report.ts'
import { templates } from './requests.ts'
import { shuffled } from './statistics.ts'
import type { QuietSlices } from './steal.ts'

/** Seconds of load on each server before its first measurement, in which V8 optimizes most of the code. */
const warmUp = 2

/** A load on a running server: requests from connections that wait for each response, or at a constant rate. */
type Shape = { name: string; template: string; connections: number; rate?: number }

/** Servers of one kind, which run side by side, and the shapes that each of them is measured with. */
export type Group = { served: Served; implementations: Implementation[]; shapes: Shape[] }

const own: Implementation[] = ['service', 'log', 'before']
const withDocument: Implementation[] = ['node-http', 'fastify', 'queue', 'glue', 'service']
const { plant, exactPlant, operation, batchOf10KiB, batchOf200KiB, list, exactList } = templates
const cycle = (name: string): Shape => ({ name, template: operation, connections: 64 })

/** All groups, in the order of the report. */
export const groups: Group[] = [
  {
    served: 'plants',
    implementations: ['node-http', 'fastify', 'queue', 'bearer-auth', 'glue', ...own],
    shapes: [
      ...[1, 8, 64, 512].map((connections) => ({
        name: connections === 1 ? '1 connection' : `${connections} connections`,
        template: plant,
        connections,
      })),
      { name: '5,000 requests/s', template: plant, connections: 64, rate: 5_000 },
      { name: 'ids beyond 2^53', template: exactPlant, connections: 64 },
    ],
  },
  {
    served: 'sqlite',
    implementations: ['fastify', ...own],
    shapes: [
      { name: 'SQLite, 1 connection', template: plant, connections: 1 },
      { name: 'SQLite, 64 connections', template: plant, connections: 64 },
    ],
  },
  {
    served: 1,
    implementations: withDocument,
    shapes: [
      cycle('1 operation'),
      { name: 'body of 10 KiB', template: batchOf10KiB, connections: 64 },
      { name: 'body of 200 KiB', template: batchOf200KiB, connections: 64 },
      { name: 'list of 1,000', template: list, connections: 64 },
      { name: 'list beyond 2^53', template: exactList, connections: 64 },
    ],
  },
  { served: 100, implementations: withDocument, shapes: [cycle('100 operations')] },
  { served: 500, implementations: withDocument, shapes: [cycle('500 operations')] },
]

export type Options = {
  seconds: number
  /** Whether to measure only Fastify and the service, and node:http for the chart. */
  quick: boolean
  /** The only implementations to measure; default: all of a group. */
  only: readonly string[] | undefined
  /** The directory of another build of the service. */
  before: string | undefined
  slices: QuietSlices
}

/**
 * Measures a round of a group and adds its results: starts each server in a new process, measures each with all shapes,
 * and stops it. The servers take turns in random order. Rejects if a server does wrong work.
 */
export async function measureRound(group: Group, installation: Installation, options: Options, results: Results) {
  const { served, shapes } = group
  const quickly: Implementation[] = ['fastify', ...own, ...(served === 'plants' ? (['node-http'] as const) : [])]
  const chosen = group.implementations.filter(
    (implementation) =>
      (implementation !== 'before' || options.before !== undefined) &&
      (options.only?.includes(implementation) ?? (!options.quick || quickly.includes(implementation))),
  )
  const operations = typeof served === 'number' ? served : 1
  const servers = []
  try {
    for (const implementation of shuffled(chosen)) {
      const server = await options.slices.measure(
        () => start(implementation, served, installation, options.before),
        (dropped) => dropped.stop(),
      )
      servers.push(server)
      const load = (template: string, connections: number): Load => {
        return { port: server.port, template, operations, first: server.nextId, connections }
      }
      const count = async (figures: Promise<LoadFigures>, connections: number) => {
        const counted = await figures
        // Skips the ids of requests that were in flight at the end, too.
        server.nextId += counted.answers + counted.errors + 2 * connections
        return counted
      }
      const add = (name: string, value: number) => addResult(results, name, 'time', implementation, value)
      if (typeof served === 'number') {
        // One request for each operation, one after the other.
        const { p50 } = await count(sendRequests(load(operation, 1), { seconds: 60, count: served }), 1)
        if (served > 1) add(`first request, ${served} operations`, p50)
        add(`start, ${served} operation${served === 1 ? '' : 's'}`, server.startTime)
      } else {
        const { max } = await count(sendRequests(load(plant, 64), { seconds: 1, rate: 5_000 }), 64)
        const store = served === 'plants' ? 'memory' : 'SQLite'
        add(`start, ${store}`, server.startTime)
        add(`slowest of first second, ${store}`, max)
      }
      await assertWorks(server, served)
      for (const [index, template] of [...new Set(shapes.map((shape) => shape.template))].entries())
        await count(sendRequests(load(template, 64), { seconds: index === 0 ? warmUp : options.seconds / 2 }), 64)
    }
    for (const { name, template, connections, rate } of shapes)
      for (const server of shuffled(servers)) {
        const { implementation } = server
        const { cpu, ...figures } = await options.slices.measure(measureShape)
        for (const [figure, value] of Object.entries({ cpu, p50: figures.p50, p99: figures.p99 }))
          addResult(results, name, figure as 'cpu', implementation, value)
        if (rate !== undefined) addResult(results, `latency at ${name}`, 'time', implementation, figures.p50)

        async function measureShape(): Promise<LoadFigures & { cpu: number }> {
          const load = { port: server.port, template, operations, first: server.nextId, connections }
          const before = server.cpu()
          const run = rate === undefined ? closedLoop(load, options.seconds) : sendRequests(load, { ...options, rate })
          const figures = await run
          if (figures.answers === 0) throw new Error(`${implementation}, ${name}: no response with 200`)
          const cpu = (1e6 * (server.cpu() - before)) / figures.answers
          server.nextId += figures.answers + figures.errors + 2 * connections
          if (figures.errors > 0)
            console.error(`${implementation}, ${name}: ${figures.errors} of ${figures.answers} failed`)
          return { ...figures, cpu }
        }
      }
  } finally {
    for (const server of servers) await server.stop()
  }
}
