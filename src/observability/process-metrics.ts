import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client'

/**
 * Registers the figures of this process, by the names that Prometheus' client libraries and the OpenTelemetry
 * conventions give them; `proc` is where Linux tells of it. Gives the function that ends the measuring.
 */
export function measureProcess(registry: Registry, proc = '/proc/self'): () => void {
  cpuTime(registry)
  const { memoryUsage } = process
  gauge(registry, 'process_start_time_seconds', 'Start, since 1970.', () => performance.timeOrigin / 1e3, 'min')
  gauge(registry, 'process_resident_memory_bytes', 'Memory held, all of it.', () => memoryUsage.rss())
  gauge(registry, 'nodejs_heap_size_total_bytes', 'JavaScript heap held.', () => memoryUsage().heapTotal)
  gauge(registry, 'nodejs_heap_size_used_bytes', 'JavaScript heap in use.', () => memoryUsage().heapUsed)
  fileDescriptors(registry, proc)
  return eventLoopDelay(registry)
}

/** `aggregator` puts the figures of several processes together. */
function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
  aggregator: Aggregator = 'sum',
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    aggregator,
    async collect() {
      this.set(await read())
    },
  })
}

function cpuTime(registry: Registry): void {
  let counted = 0
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time used, by the system for it too.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.inc((user + system - counted) / 1e6)
      counted = user + system
    },
  })
}

/** Only Linux shows them as files. */
function fileDescriptors(registry: Registry, proc: string): void {
  const limits = join(proc, 'limits')
  if (!existsSync(limits)) return
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1])
  gauge(registry, 'process_max_fds', 'File descriptors that may be open.', () => limit)
  gauge(registry, 'process_open_fds', 'File descriptors that are open.', async () => {
    // To look takes one: where that cannot be had they are all taken, else it is not counted.
    const open = await readdir(join(proc, 'fd')).catch(() => undefined)
    return open === undefined ? limit : open.length - 1
  })
}

/** How much later than asked for a timer comes, from one look at the figures to the next. */
function eventLoopDelay(registry: Registry): () => void {
  const resolution = 10
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  // Node counts the timer's own time too.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3)
  const figure = (name: string, help: string, read: () => number) =>
    gauge(
      registry,
      `nodejs_eventloop_delay_${name}_seconds`,
      `${help} of the event loop since the last look.`,
      read,
      'max',
    )
  figure('p50', 'Median delay', () => seconds(delay.percentile(50)))
  figure('p99', '99th percentile of the delay', () => seconds(delay.percentile(99)))
  figure('max', 'Longest delay', () => {
    const longest = seconds(delay.max)
    // The last of the three.
    delay.reset()
    return longest
  })
  return () => {
    delay.disable()
  }
}
