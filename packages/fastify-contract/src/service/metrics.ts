import { Counter, Gauge, Registry } from 'prom-client'
import { measureBatches, measureWriteAheadLog } from '../../../../src/store/store-metrics.ts'
import type { ErrorName } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { ShedReason } from '../limits/load-shedding.ts'
import { measureProcess } from './process-metrics.ts'
import { measureDurations } from './request-duration.ts'

/** Why a request or connection was rejected: the name of an error in the contract, or too many connections. */
export type RejectionReason = ErrorName | 'connections'

const shedReasons: ShedReason[] = ['event_loop_delay', 'in_flight', 'body_memory']

/** The metrics of the service. No label has a value that a client can choose. */
export type Metrics = {
  /** Counts the arrival of a request. */
  begin(): void
  /** Records the duration of a request by operation, method and status. Counts a rejected request by reason too. */
  end(context: RequestContext): void
  /** Counts a rejection that belongs to no request. */
  refused(reason: RejectionReason): void
  /** Counts a request that was rejected because of overload. */
  shed(reason: ShedReason): void
  /** Sets whether the current token file is valid. */
  tokens(good: boolean): void
  /** Sets whether the service is ready. */
  ready(good: boolean): void
  /** Returns the metrics in Prometheus' text format, version 0.0.4. */
  text(): Promise<string>
  /** Stops all measurements. */
  close(): void
}

/** Creates metrics with their own registry. `version` is the version of the contract. */
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
    help: 'Requests in flight.',
    registers,
    collect() {
      this.set(active)
    },
  })
  const refusals = new Counter({
    name: 'plant_store_requests_refused_total',
    help: 'Requests and connections rejected by the service itself, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const refusalsOf = cached((reason: string) => refusals.labels({ reason }))
  const shed = new Counter({
    name: 'plant_store_requests_shed_total',
    help: 'Requests rejected because of overload, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of shedReasons) shed.inc({ reason }, 0)
  const build = { version, node_version: process.versions.node }
  new Gauge({
    name: 'plant_store_build_info',
    help: 'The versions of the contract and of Node.js.',
    labelNames: Object.keys(build),
    registers,
  }).set(build, 1)
  const tokens = booleanGauge(registry, 'plant_store_tokens_file_good', '1 if the token file is valid, 0 if it is not.')
  const ready = booleanGauge(registry, 'plant_store_ready', '1 if the service is ready, 0 while creates fail.')
  const stops = [measureBatches(registry), measureWriteAheadLog(registry), measureProcess(registry)]
  return {
    begin() {
      active++
    },
    end({ operation, method, status, refusal, duration }) {
      active--
      // OpenTelemetry's value for an unknown method: a client could otherwise choose the label.
      const durationsOf = operation === undefined ? durationOf('none')('_OTHER') : durationOf(operation)(method)
      durationsOf(status)(duration / 1_000)
      if (refusal !== undefined) refusalsOf(refusal).inc()
    },
    refused: (reason) => refusalsOf(reason).inc(),
    shed: (reason) => shed.inc({ reason }),
    tokens,
    ready,
    text: () => registry.metrics(),
    close() {
      for (const stop of stops) stop()
    },
  }
}

/** Registers a gauge for a boolean. It is not exported before its first value is set. */
function booleanGauge(registry: Registry, name: string, help: string): (yes: boolean) => void {
  const gauge = new Gauge({ name, help, registers: [registry] })
  gauge.remove()
  return (yes) => gauge.set(Number(yes))
}

/** Caches the children of a metric, since prom-client hashes the labels at every call. */
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
