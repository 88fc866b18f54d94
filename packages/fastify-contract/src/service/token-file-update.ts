import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { chmod, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseTokenFile, readTokenFile, type TokenEntry } from '../auth/token-file.ts'

/**
 * Locks a file. Resolves with a function that releases the lock, which the end of the process releases too. Resolves
 * with undefined when another process holds the lock for longer than `timeout` milliseconds.
 */
export type LockFile = (path: string, timeout: number) => Promise<(() => void) | undefined>

/** Locks a file like `LockFile`, or with the lock of flock(1), `flock`. */
export type LockFileOrFlock = (path: string, timeout: number, flock: LockFile) => ReturnType<LockFile>

/** How long to wait for another command, in milliseconds. */
const lockTimeout = 5_000

/** Resolves with the entries of the token file at `path`. */
export const readTokens = async (path: string): Promise<TokenEntry[]> =>
  parseTokenFile((await readTokenFile(path)).toString())

/**
 * Changes the entries of the token file at `path`, or creates the file when it is missing. Resolves with the result of
 * `change`. The update is atomic: a reader finds the old or the new file, even after a crash, and other commands wait.
 * Rejects with the reason when the file or the change is invalid; the file is then unchanged.
 */
export async function updateTokenFile<T extends { entries: TokenEntry[] }>(
  path: string,
  change: (entries: TokenEntry[]) => T,
  lockFile: LockFileOrFlock = lockWithFlock,
): Promise<T> {
  // All links to a file share its lock.
  const real = await realPathOf(path)
  const lock = `${real}-lock`
  await createLockFile(lock)
  const release = await lockFile(lock, lockTimeout, lockWithFlock)
  if (release === undefined) throw new Error('another command is changing it; try again')
  try {
    const changed = change(existsSync(real) ? await readTokens(real) : [])
    const text = `${JSON.stringify({ tokens: changed.entries }, null, 2)}\n`
    parseTokenFile(text)
    await replaceFile(real, text)
    return changed
  } finally {
    release()
  }
}

/** Returns the path of a file, which may be missing, with all symbolic links resolved. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const target = await readlink(path).catch(() => undefined)
    if (target !== undefined) return await realPathOf(resolve(dirname(path), target))
    return join(await realpath(dirname(path)), basename(path))
  }
}

/**
 * Creates a lock file when it is missing. Only its owner can read a new one: who may read a file may lock it, and so
 * block the command.
 */
async function createLockFile(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await checkLockFile(path)
  }
}

/**
 * Rejects a lock file that is a link or a directory, and removes the permission to read it from those who may not write
 * it, which earlier releases gave to all. Does not open the file: closing it would release the locks that this process
 * holds on it.
 */
async function checkLockFile(path: string): Promise<void> {
  const status = await lstat(path)
  // A user who may write the directory could create a link, and a command of root would create or open its target.
  if (status.isSymbolicLink()) throw new Error(`${path} is a symbolic link; remove it`)
  if (status.isDirectory()) throw Object.assign(new Error(`${path} is a directory; remove it`), { code: 'EISDIR' })
  const { uid, mode } = status
  const right = (mode & ~0o044 & 0o777) | ((mode & 0o022) << 1)
  const directory = await stat(dirname(path))
  // In a directory of another user, the file could be replaced by a link before its mode changes.
  const isSafe = directory.uid === uid && (directory.mode & 0o022) === 0
  if (uid === process.getuid?.() && isSafe && right !== (mode & 0o777)) await chmod(path, right)
}

/**
 * Replaces the text of a file, or creates it for its owner only. The new file gets the name, owner and mode of the old
 * one when it is complete and synced. The caller must hold the lock: the unfinished file of a killed process is removed.
 */
async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished`
  await rm(unfinished, { force: true })
  const old = statSync(path, { throwIfNoEntry: false })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(text)
    if (old !== undefined) {
      await file.chown(old.uid, old.gid)
      await file.chmod(old.mode & 0o777)
    }
    await file.sync()
    await rename(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
    await file.close()
  }
  // The new name is durable only when its directory is synced.
  const directory = await open(dirname(path))
  await directory.sync().finally(() => directory.close())
}

/** Locks a file with the program flock(1), which releases the lock when its standard input closes. */
export async function lockWithFlock(path: string, timeout: number): Promise<(() => void) | undefined> {
  const program = spawn('flock', [path, 'sh', '-c', 'echo locked && exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const release = () => {
    program.stdin.end()
  }
  const locked = once(program.stdout, 'data').then(() => release)
  const ended = once(program, 'exit').then(([code]) => {
    throw new Error(`cannot be locked: flock ended with exit code ${code}`)
  })
  const canceled = new AbortController()
  const late = sleep(timeout, undefined, canceled).then(giveUp)
  function giveUp(): undefined {
    // flock may still be waiting for the lock.
    program.kill()
    release()
  }
  function endRace(): void {
    canceled.abort()
    // The promises that lost may reject later.
    for (const promise of [locked, ended, late]) promise.catch(() => {})
  }
  return await Promise.race([locked, ended, late]).catch(explainMissingFlock).finally(endRace)
}

function explainMissingFlock(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOENT') throw error
  throw new Error('cannot be locked: install the program flock of util-linux', { cause: error })
}
