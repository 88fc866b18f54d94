import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system on a disk of its own that can lose power. */
export type LoopDisk = {
  directory: string
  /** Writes everything to the disk. */
  sync(): void
  /**
   * Loses what is not on the disk: replaces the disk by a copy, made before the kernel writes its cache of this file
   * system. No process may use the directory. Returns the size (KiB) of what is lost.
   */
  losePower(): number
  close(): void
}

/** Size of the disk in bytes. It is a sparse file. */
const size = 2 ** 31

/** Mounts a new ext4 file system from a file. Returns undefined without the right to. */
export function mountLoopDisk(): LoopDisk | undefined {
  const base = mkdtempSync(join(tmpdir(), 'plant-store-disk-'))
  const [image, directory] = [join(base, 'image'), join(base, 'disk')]
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { stdio: 'pipe', encoding: 'utf8' })
  // The kernel would write its cache of the file system every 5 seconds.
  const mount = () => run('mount', '-o', 'loop,commit=600', image, directory)
  const unmount = () => run('umount', '--lazy', directory)
  const close = () => {
    process.off('exit', close)
    try {
      unmount()
    } finally {
      rmSync(base, { recursive: true })
    }
  }
  mkdirSync(directory)
  writeFileSync(image, '')
  truncateSync(image, size)
  try {
    run('mkfs.ext4', '-q', '-F', image)
    mount()
  } catch {
    rmSync(base, { recursive: true })
    return undefined
  }
  process.once('exit', close)
  return {
    directory,
    sync: () => void run('sync', '--file-system', directory),
    losePower() {
      const copy = join(base, 'copy')
      run('cp', '--sparse=always', image, copy)
      run('umount', directory)
      const lost = Number(run('sh', '-c', `cmp -l "$0" "$1" | wc -l`, image, copy))
      renameSync(copy, image)
      mount()
      return Math.round(lost / 1_024)
    },
    close,
  }
}
