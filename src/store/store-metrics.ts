import { subscribe } from 'node:diagnostics_channel'
import { Gauge, Histogram, type Registry } from 'prom-client'
import type { BatchMessage } from './group-commit.ts'
import type { JournalMessage } from './sqlite/sqlite-store.ts'

/**
 * Registers the metrics of the store, which publishes their values on diagnostics channels: its batches, and the size
 * of SQLite's write-ahead log. The size is missing from the export until SQLite reports it.
 */
export function measureStore(registry: Registry): void {
  const registers = [registry]
  const sizes = new Histogram({
    name: 'plant_store_batch_plants',
    help: 'Plants in a batch.',
    // A batch has at most 1,024.
    buckets: [1, 4, 16, 64, 256],
    registers,
  })
  const durations = new Histogram({
    name: 'plant_store_batch_duration_seconds',
    help: 'Duration of a batch from the start of its commit to the outcome, in seconds.',
    buckets: [0.001, 0.004, 0.016, 0.064, 0.256, 1.024],
    registers,
  })
  const queue = new Gauge({
    name: 'plant_store_queue_plants',
    help: 'Plants that were waiting when the last batch completed.',
    registers,
  })
  const journal = new Gauge({
    name: 'plant_store_sqlite_wal_bytes',
    help: 'Size of the write-ahead log in bytes; a long-running reader makes it grow.',
    registers,
  })
  journal.remove()
  subscribe('plant-store:batch', function observe(message) {
    const { size, duration, queued } = message as BatchMessage
    sizes.observe(size)
    durations.observe(duration / 1_000)
    queue.set(queued)
  })
  subscribe('plant-store:sqlite-journal', (message) => journal.set((message as JournalMessage).bytes))
}
