import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const fileSystems = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlayfs'],
])

/** Returns the name of a directory's file system. Throws if it is in memory, where a sync costs nothing. */
export function fileSystem(directory: string): string {
  const { type } = statfsSync(directory)
  if (type === 0x01021994) throw new Error(`${directory} is in memory; name a directory on a disk with --directory`)
  return fileSystems.get(type) ?? `file system 0x${type.toString(16)}`
}

const page = Buffer.alloc(4_096, 1)

/** Returns how often per second one thread appends 4 KiB to a file and syncs it, measured for `seconds`. */
export function syncedAppends(directory: string, seconds: number): number {
  const path = join(directory, 'appends')
  const file = openSync(path, 'w')
  const start = performance.now()
  let count = 0
  for (; performance.now() - start < 1_000 * seconds; count++) {
    writeSync(file, page)
    fdatasyncSync(file)
  }
  const elapsed = performance.now() - start
  closeSync(file)
  rmSync(path)
  return (1_000 * count) / elapsed
}

/** A measurement of sync times that runs in the background. */
export type DiskWatch = {
  /** Returns the time of the slowest sync since the last call, in milliseconds. */
  slowest(): number
  close(): Promise<void>
}

/** Writes 4 KiB to a separate file in `directory` and syncs it, with pauses of 100 ms, and records the slowest sync. */
export async function watchDisk(directory: string): Promise<DiskWatch> {
  const path = join(directory, `disk-watch-${process.pid}`)
  const file = await open(path, 'w')
  let slowest = 0
  let watching = true
  const look = async () => {
    while (watching) {
      const start = performance.now()
      await file.write(page, 0, page.length, 0)
      await file.datasync()
      slowest = Math.max(slowest, performance.now() - start)
      await sleep(100)
    }
  }
  const looking = look()
  return {
    slowest() {
      const since = slowest
      slowest = 0
      return since
    },
    async close() {
      watching = false
      await looking
      await file.close()
      await rm(path)
    },
  }
}
