import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

export type AtomicFile = {
  write(text: string): Promise<void>
  /** Syncs the new file and renames it to the name of the old one. */
  finish(): Promise<void>
  /** Removes the new file unless it is finished. */
  close(): Promise<void>
}

/**
 * Creates a file that replaces the one at `path`, which may be missing, when it is finished. A reader finds the old or
 * the new content, even after a crash. Only its owner can read a new file; an existing one keeps its owner and mode.
 * Removes the unfinished file of a killed process. Rejects when `path` is not a regular file, or when its directory is
 * missing.
 */
export async function openAtomicFile(path: string): Promise<AtomicFile> {
  if (!existsSync(dirname(path))) throw new Error(`${dirname(path)} does not exist; create that directory`)
  // A rename to the path of a symbolic link would replace the link, even when its target does not exist yet.
  const real = realPathOf(path)
  const old = statSync(real, { throwIfNoEntry: false })
  if (old !== undefined && !old.isFile()) throw new Error(`${path} is not a file; name a file`)
  const unfinished = `${real}.unfinished`
  rmSync(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', 0o600)
  const own = await handle.stat()
  const isOwn = () => statSync(unfinished, { throwIfNoEntry: false })?.ino === own.ino
  return {
    async write(text) {
      await handle.writeFile(text)
    },
    async finish() {
      if (old !== undefined) {
        await handle.chown(old.uid, old.gid)
        await handle.chmod(old.mode & 0o777)
      }
      await handle.sync()
      // Another process may have removed the new file, taking it for that of a killed process.
      if (!isOwn()) throw new Error(`another process is writing ${path}; name another file`)
      renameDurably(unfinished, real)
    },
    async close() {
      if (isOwn()) rmSync(unfinished)
      await handle.close()
    },
  }
}

/** Renames a file, whose content must be synced, and syncs the directory of its new name. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  syncPath(dirname(to))
}

/** Calls fsync for a file or a directory. A new name is durable only when the directory that holds it is synced. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Creates a directory and its missing parents, and syncs each directory that holds a new one. Throws EEXIST when the
 * path is not a directory, and ENOTDIR when a parent is not.
 */
export function createDurableDirectory(path: string): void {
  // Without the option `recursive` of mkdir: below /proc, mkdir of Node.js 20 then never returns.
  const missing: string[] = []
  let existing = resolve(path)
  while (statSync(existing, { throwIfNoEntry: false }) === undefined) {
    missing.unshift(existing)
    existing = dirname(existing)
  }
  // A path below a file is missing for statSync of Node 24, which throws ENOTDIR in earlier versions.
  const code = missing.length === 0 ? 'EEXIST' : 'ENOTDIR'
  if (!statSync(existing).isDirectory()) throw systemError(`${existing} is not a directory`, code)
  for (const directory of missing) {
    let failure: unknown
    try {
      mkdirSync(directory)
    } catch (error) {
      failure = error
    }
    // Another process may have created it meanwhile.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw failure
    syncPath(dirname(directory))
  }
}

const systemError = (message: string, code: string): Error => Object.assign(new Error(message), { code })

/**
 * Creates a lock file when it is missing. Only its owner can read a new one: who may read a file may lock it. Throws
 * ELOOP for a symbolic link: a user who may write the directory could create one, and a command of root would create or
 * open its target.
 */
export function createLockFile(path: string): void {
  try {
    // An existing file is not opened, since closing it would release the locks that this process holds on it.
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const status = lstatSync(path)
    if (status.isSymbolicLink()) throw systemError(`${path} is a symbolic link; remove it`, 'ELOOP')
    removeReaders(path, status)
  }
}

/** Removes the permission to read a lock file from those who may not write it, which earlier releases gave to all. */
function removeReaders(path: string, { uid, mode }: Stats): void {
  const writable = mode & 0o022
  const right = (mode & ~0o044 & 0o777) | (writable << 1)
  const directory = statSync(dirname(path))
  // In a directory of another user, the file could be replaced by a link before its mode changes.
  const isSafe = directory.uid === uid && (directory.mode & 0o022) === 0
  if (uid === process.getuid?.() && isSafe && right !== (mode & 0o777)) chmodSync(path, right)
}

/**
 * Returns the absolute path of a file with all symbolic links resolved. The file itself may be missing: the path is
 * then where an open through the links would create it. Throws when the directory of the file does not exist.
 */
export function realPathOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const target = linkTarget(path)
  if (target !== undefined) return realPathOf(resolve(dirname(path), target))
  return join(realpathSync(dirname(path)), basename(path))
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
