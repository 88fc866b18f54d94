import { Counter, Gauge, Registry } from 'prom-client'
import type { ErrorName } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { ShedReason } from '../limits/load-shedding.ts'
import { measureProcess } from './process-metrics.ts'
import { measureDurations } from './request-duration.ts'
import { measureBatches, measureJournal } from './store-metrics.ts'

/** Why something was refused: the kind of its error in the contract, or too many connections. */
export type RefusalReason = ErrorName | 'connections'

export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const shedReasons: ShedReason[] = ['event_loop_delay', 'in_flight', 'body_memory']

/** What the service counts and measures. No label has a value that a client can choose. */
export type Metrics = {
  /** A request has come. */
  begin(): void
  /** Its answer has left, or never will: it counts by operation, method and status, and by reason when refused. */
  end(context: RequestContext): void
  /** Something was refused before it was a request. */
  refused(reason: RefusalReason): void
  shed(reason: ShedReason): void
  /** Whether the tokens file could be used as it is now. */
  tokens(good: boolean): void
  /** Whether the service is ready. */
  ready(good: boolean): void
  /** All of it, each with how it is put together with that of other processes. */
  figures(): Promise<Figures>
  /** The same in Prometheus' text format, version 0.0.4. */
  text(): Promise<string>
  /** Ends the measuring. */
  close(): void
}

/** Creates metrics with a registry of their own. `version` is that of the contract. */
export function createMetrics({ version }: { version: string }): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const durations = measureDurations(registry)
  const durationOf = cached((operation: string) =>
    cached((method: string) => cached((status: number) => durations({ operation, method, status: status || 'none' }))),
  )
  let active = 0
  new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests whose answer has not left.',
    registers,
    collect() {
      this.set(active)
    },
  })
  const refusals = new Counter({
    name: 'plant_store_requests_refused_total',
    help: 'Refused by the service itself, by the kind of error.',
    labelNames: ['reason'],
    registers,
  })
  const refusalsOf = cached((reason: string) => refusals.labels({ reason }))
  const shed = new Counter({
    name: 'plant_store_requests_shed_total',
    help: 'Refused to keep the others fast.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of shedReasons) shed.inc({ reason }, 0)
  const build = { version, node_version: process.versions.node }
  new Gauge({
    name: 'plant_store_build_info',
    help: 'The version of the contract and of Node.',
    labelNames: Object.keys(build),
    registers,
    aggregator: 'first',
  }).set(build, 1)
  const tokens = told(registry, 'plant_store_tokens_file_good', '0 while the last good tokens are used instead.')
  const ready = told(registry, 'plant_store_ready', '1 while creates succeed, as far as is known.')
  const ends = [measureBatches(registry), measureJournal(registry), measureProcess(registry)]
  return {
    begin() {
      active++
    },
    end({ operation, method, status, refusal, duration }) {
      active--
      // The conventions' word for a method that nobody vouches for.
      const durationsOf = operation === undefined ? durationOf('none')('_OTHER') : durationOf(operation)(method)
      durationsOf(status)(duration / 1_000)
      if (refusal !== undefined) refusalsOf(refusal).inc()
    },
    refused: (reason) => refusalsOf(reason).inc(),
    shed: (reason) => shed.inc({ reason }),
    tokens,
    ready,
    figures: () => registry.getMetricsAsJSON(),
    text: () => registry.metrics(),
    close() {
      for (const end of ends) end()
    },
  }
}

/** A figure of yes and no; it is not shown before somebody has told. */
function told(registry: Registry, name: string, help: string): (yes: boolean) => void {
  const gauge = new Gauge({ name, help, registers: [registry], aggregator: 'min' })
  gauge.remove()
  return (yes) => gauge.set(Number(yes))
}

/** prom-client takes a child to its labels anew each time that it is asked for one. */
function cached<Key, Child>(make: (key: Key) => Child): (key: Key) => Child {
  const children = new Map<Key, Child>()
  return (key) => {
    const known = children.get(key)
    if (known !== undefined) return known
    const child = make(key)
    children.set(key, child)
    return child
  }
}
