import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createHistogram, performance } from 'node:perf_hooks'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ErrorName } from '../contract/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type DelayMeter, measureDelay } from '../limits/event-loop-delay.ts'
import type { ShedReason } from '../limits/limits.ts'

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
  /** The registry, for further metrics of the application. */
  registry: Registry
  /** Returns the metrics in Prometheus' text format, version 0.0.4. */
  text(): Promise<string>
  /** Stops all measurements. */
  close(): void
}

/**
 * Creates metrics with their own registry.
 *
 * @param versions The versions of the documents by their prefixes, which are the values of the label `api` if there are
 *   several.
 * @param prefix The prefix of the names of the service's own metrics.
 */
export function createMetrics(versions: Record<string, string>, prefix: string): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const hasApis = Object.keys(versions).length > 1
  const apiLabel = hasApis ? ['api'] : []
  const durations = requestDurations()
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
    name: `${prefix}_requests_refused_total`,
    help: 'Requests and connections rejected by the service itself, by reason.',
    labelNames: [...apiLabel, 'reason'],
    registers,
  })
  /** Records ended requests with the given labels. */
  function recorder(labels: { api?: string }) {
    const durationOf = cached((operation: string) =>
      cached((method: string) =>
        cached((status: number) =>
          durations.series({ ...labels, operation, method, status: String(status || 'none') }),
        ),
      ),
    )
    const rejectionsOf = cached((reason: string) => refusals.labels({ ...labels, reason }))
    return {
      refused: (reason: RejectionReason) => rejectionsOf(reason).inc(),
      end({ operation, method, status, rejection, duration }: RequestContext) {
        active--
        // OpenTelemetry's value for an unknown method: a client could otherwise choose the label.
        const durationsOf = operation === undefined ? durationOf('none')('_OTHER') : durationOf(operation)(method)
        durationsOf(status)(duration / 1_000)
        if (rejection !== undefined) rejectionsOf(rejection).inc()
      },
    }
  }
  const recorderOf = cached((api: string) => recorder({ api }))
  const { end, refused } = hasApis
    ? {
        refused: recorderOf('none').refused,
        end: (context: RequestContext) => recorderOf(context.api ?? 'none').end(context),
      }
    : recorder({})
  const shed = new Counter({
    name: `${prefix}_requests_shed_total`,
    help: 'Requests rejected because of overload, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of shedReasons) shed.inc({ reason }, 0)
  const buildInfo = new Gauge({
    name: `${prefix}_build_info`,
    help: 'The versions of the contract and of Node.js.',
    labelNames: [...apiLabel, 'version', 'node_version'],
    registers,
  })
  const node_version = process.versions.node
  for (const [api, version] of Object.entries(versions))
    buildInfo.set({ ...(hasApis && { api }), version, node_version }, 1)
  const tokens = booleanGauge(registry, `${prefix}_tokens_file_good`, '1 if the token file is valid, 0 if it is not.')
  const ready = booleanGauge(registry, `${prefix}_ready`, '1 if the service is ready, 0 if it is not.')
  /** Whether a request has arrived, or was in flight, since the latest measurement of the event loop delay. */
  let isUsed = false
  const meter = measureProcess(registry, function goesOn() {
    const wasUsed = isUsed
    isUsed = active > 0
    return wasUsed
  })
  return {
    registry,
    begin() {
      active++
      isUsed = true
      meter.use()
    },
    end,
    refused,
    shed: (reason) => shed.inc({ reason }),
    tokens,
    ready,
    text: async () => `${await registry.metrics()}${durations.text()}`,
    close: meter.close,
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
  return function childOf(key) {
    const known = children.get(key)
    if (known !== undefined) return known
    const child = make(key)
    children.set(key, child)
    return child
  }
}

/** Seconds, as the OpenTelemetry conventions recommend for http.server.request.duration. */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const durationName = 'http_server_request_duration_seconds'
const durationHelp =
  'Seconds from the head of a request to the end of its response; the status is none if no response was sent.'

type Labels = Record<'operation' | 'method' | 'status', string> & { api?: string }

/**
 * Returns the histogram of request durations. `series` creates the time series of some labels and returns the function
 * that records the duration of one request in seconds. The histogram of prom-client is not used: it looks up the labels
 * for each value, which takes longer than all other metrics together.
 */
function requestDurations() {
  const all: (() => string)[] = []
  return {
    /** Returns the histogram in Prometheus' text format, version 0.0.4. */
    text() {
      let text = `# HELP ${durationName} ${durationHelp}\n# TYPE ${durationName} histogram\n`
      for (const seriesText of all) text += seriesText()
      return text
    },
    series(labels: Labels): (seconds: number) => void {
      /** The count of each bucket; the last one has no upper bound. */
      const counts = new Array<number>(durationBounds.length + 1).fill(0)
      let sum = 0
      const pairs = Object.entries(labels)
        .map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`)
        .join(',')
      all.push(function seriesText() {
        let count = 0
        let buckets = ''
        for (const [index, own] of counts.entries()) {
          count += own
          buckets += `${durationName}_bucket{le="${durationBounds[index] ?? '+Inf'}",${pairs}} ${count}\n`
        }
        return `${buckets}${durationName}_sum{${pairs}} ${sum}\n${durationName}_count{${pairs}} ${count}\n`
      })
      return function observe(seconds) {
        let bucket = 0
        while (bucket < durationBounds.length && seconds > (durationBounds[bucket] as number)) bucket++
        counts[bucket] = (counts[bucket] as number) + 1
        sum += seconds
      }
    },
  }
}

/**
 * Registers the metrics of this process, named after Prometheus' client libraries and the OpenTelemetry conventions.
 * `proc` is the directory of the process in procfs, which only Linux has. Returns the meter of the event loop delay, which
 * goes on while `isUsed` returns true.
 */
export function measureProcess(registry: Registry, isUsed: () => boolean, proc = '/proc/self'): DelayMeter {
  cpuTime(registry)
  const { memoryUsage } = process
  const startTime = () => performance.timeOrigin / 1e3
  const heapTotal = () => memoryUsage().heapTotal
  const heapUsed = () => memoryUsage().heapUsed
  gauge(registry, 'process_start_time_seconds', 'Start time of the process since 1970, in seconds.', startTime)
  gauge(registry, 'process_resident_memory_bytes', 'Resident memory size in bytes.', memoryUsage.rss)
  gauge(registry, 'nodejs_heap_size_total_bytes', 'Size of the JavaScript heap in bytes.', heapTotal)
  gauge(registry, 'nodejs_heap_size_used_bytes', 'Used size of the JavaScript heap in bytes.', heapUsed)
  fileDescriptors(registry, proc)
  return eventLoopDelay(registry, isUsed)
}

/** Registers a gauge that is read on demand. */
function gauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read())
    },
  })
}

function cpuTime(registry: Registry): void {
  let counted = 0
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time in seconds.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.inc((user + system - counted) / 1e6)
      counted = user + system
    },
  })
}

/** Registers the metrics of file descriptors. Only Linux has them, since they are read from procfs. */
function fileDescriptors(registry: Registry, proc: string): void {
  const limits = join(proc, 'limits')
  if (!existsSync(limits)) return
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1])
  gauge(registry, 'process_max_fds', 'Maximum number of open file descriptors.', () => limit)
  gauge(registry, 'process_open_fds', 'Number of open file descriptors.', async function countDescriptors() {
    // readdir needs a descriptor itself: if it fails, all are in use; otherwise its own is not counted.
    const open = await readdir(join(proc, 'fd')).catch(() => undefined)
    return open === undefined ? limit : open.length - 1
  })
}

/** Milliseconds between two measurements of the event loop delay without requests. */
const idleInterval = 1_000

/** Registers the event loop delay between two scrapes: how much later than scheduled a timer fires. */
function eventLoopDelay(registry: Registry, isUsed: () => boolean): DelayMeter {
  /** Delays in microseconds. The smallest value of a histogram is 1. */
  const delays = createHistogram()
  function figure(name: string, help: string, read: () => number): void {
    const since = `${help} of the event loop since the last scrape, in seconds.`
    gauge(registry, `nodejs_eventloop_delay_${name}_seconds`, since, read)
  }
  figure('p50', 'Median delay', () => delays.percentile(50) / 1e6)
  figure('p99', '99th percentile of the delay', () => delays.percentile(99) / 1e6)
  figure('max', 'Longest delay', function readLast() {
    const longest = delays.count === 0 ? 0 : delays.max / 1e6
    delays.reset()
    return longest
  })
  return measureDelay(function recordDelay(delay) {
    delays.record(Math.max(1, Math.round(delay * 1e3)))
    return isUsed()
  }, idleInterval)
}
