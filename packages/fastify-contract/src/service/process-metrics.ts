import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * Registers the metrics of this process, named after Prometheus' client libraries and the OpenTelemetry conventions.
 * `proc` is the directory of the process in procfs, which only Linux has. Returns the function that stops the
 * measurement.
 */
export function measureProcess(registry: Registry, proc = '/proc/self'): () => void {
  cpuTime(registry)
  const { memoryUsage } = process
  gauge(
    registry,
    'process_start_time_seconds',
    'Start time of the process since 1970, in seconds.',
    () => performance.timeOrigin / 1e3,
  )
  gauge(registry, 'process_resident_memory_bytes', 'Resident memory size in bytes.', () => memoryUsage.rss())
  gauge(
    registry,
    'nodejs_heap_size_total_bytes',
    'Size of the JavaScript heap in bytes.',
    () => memoryUsage().heapTotal,
  )
  gauge(
    registry,
    'nodejs_heap_size_used_bytes',
    'Used size of the JavaScript heap in bytes.',
    () => memoryUsage().heapUsed,
  )
  fileDescriptors(registry, proc)
  return eventLoopDelay(registry)
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
  gauge(registry, 'process_open_fds', 'Number of open file descriptors.', async () => {
    // readdir needs a descriptor itself: if it fails, all are in use; otherwise its own is not counted.
    const open = await readdir(join(proc, 'fd')).catch(() => undefined)
    return open === undefined ? limit : open.length - 1
  })
}

/** Registers the event loop delay between two scrapes: how much later than scheduled a timer fires. */
function eventLoopDelay(registry: Registry): () => void {
  const resolution = 10
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  // The histogram of Node.js includes the interval of its timer.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3)
  const figure = (name: string, help: string, read: () => number) =>
    gauge(
      registry,
      `nodejs_eventloop_delay_${name}_seconds`,
      `${help} of the event loop since the last scrape, in seconds.`,
      read,
    )
  figure('p50', 'Median delay', () => seconds(delay.percentile(50)))
  figure('p99', '99th percentile of the delay', () => seconds(delay.percentile(99)))
  figure('max', 'Longest delay', () => {
    const longest = seconds(delay.max)
    // This gauge is read last.
    delay.reset()
    return longest
  })
  return () => {
    delay.disable()
  }
}
