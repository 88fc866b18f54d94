import { setTimeout as sleep } from 'node:timers/promises'
import type { ContenderProcess } from './contender-process.ts'
import type { DiskWatch } from './disk-sync-times.ts'
import type { HttpLoad } from './http-load.ts'
import { row } from './text-table.ts'

/** The figures of a minute; `memory` and `heap` are in bytes. */
export type Minute = { memory: number; heap: number; errors: number }

const samples = 12

/**
 * Measures a service under load and prints a line per minute: resident memory, the smallest heap (the size after a
 * garbage collection), responses, errors, latency and the slowest sync of the disk.
 */
export async function watch(
  server: ContenderProcess,
  load: HttpLoad,
  disk: DiskWatch,
  minutes: number,
): Promise<Minute[]> {
  console.log(row(['minute', 'RSS MiB', 'heap MiB', 'answers/s', 'errors', 'p50 ms', 'p99 ms', 'sync ms']))
  const watched: Minute[] = []
  while (watched.length < minutes) {
    const measured = load.measure(60)
    let heap = Number.POSITIVE_INFINITY
    for (let sample = 0; sample < samples; sample++) {
      await sleep(60_000 / samples)
      heap = Math.min(heap, await heapUsed(server))
    }
    const { answers, seconds, errors, p50, p99 } = await measured
    const memory = server.memory()
    watched.push({ memory, heap, errors })
    const sizes = [memory, heap].map((bytes) => (bytes / 2 ** 20).toFixed(1))
    const times = [p50, p99, disk.slowest()].map((time) => time.toFixed(2))
    console.log(row([String(watched.length), ...sizes, (answers / seconds).toFixed(0), String(errors), ...times]))
  }
  return watched
}

async function heapUsed({ managementPort }: ContenderProcess): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${managementPort}/metrics`)
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(await answer.text())?.[1])
}
