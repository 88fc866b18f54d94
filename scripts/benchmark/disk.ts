import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

const fileSystems = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlayfs'],
])

/** Gives the name of the file system that holds a directory. Throws when that is in memory, where nothing is synced. */
export function fileSystem(directory: string): string {
  const { type } = statfsSync(directory)
  if (type === 0x01021994) throw new Error(`${directory} is in memory: --directory must name one on a disk`)
  return fileSystems.get(type) ?? `file system 0x${type.toString(16)}`
}

const page = Buffer.alloc(4_096, 1)

/** How often in a second one thread appends 4 KiB to a file and syncs them, one after the other. */
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
