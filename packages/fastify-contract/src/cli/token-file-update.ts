import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Stats, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLockFile, lockFile, NoSqlite } from '../../../../src/store/sqlite/sqlite-driver.ts'
import { parseTokenFile, readTokenFile, type TokenEntry } from '../auth/token-file.ts'
import { realPathOf, syncPath } from '../service/atomic-file.ts'

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
): Promise<T> {
  // A rename to the path of a symbolic link would replace the link, even when its target does not exist yet.
  const real = realPathOf(path)
  const release = await lock(`${real}-lock`)
  try {
    const before = statSync(real, { throwIfNoEntry: false })
    const changed = change(before === undefined ? [] : await readTokens(real))
    const text = `${JSON.stringify({ tokens: changed.entries }, null, 2)}\n`
    parseTokenFile(text)
    await replace(real, text, before)
    return changed
  } finally {
    release()
  }
}

/** Locks a file that only its owner can open. Resolves with a function that releases the lock. */
async function lock(path: string): Promise<() => void> {
  // Without this mode, any user could open the file, lock it and so block the command.
  createLockFile(path, 0o600)
  return await lockTokenFile(path, lockTimeout)
}

/**
 * Replaces the file atomically. Only the owner can read a new file. An existing file keeps its owner and mode, since
 * root may change the file of the service.
 */
async function replace(path: string, text: string, before: Stats | undefined): Promise<void> {
  const unfinished = `${path}.unfinished`
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    if (before !== undefined) {
      await file.chown(before.uid, before.gid)
      await file.chmod(before.mode & 0o777)
    }
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  syncPath(dirname(path))
}

const busy = 'another command is changing it; try again'

/**
 * Locks a file for a command that changes the token file. Resolves with a function that releases the lock; the end of
 * the process releases it too. Rejects when another command holds the lock for longer than `timeout` milliseconds.
 * Without SQLite, the program flock(1) locks the file; the two kinds of locks do not exclude each other.
 */
export async function lockTokenFile(path: string, timeout: number): Promise<() => void> {
  try {
    return lockFile(path, timeout)
  } catch (error) {
    if (error instanceof NoSqlite) return await lockWithFlock(path, timeout)
    throw new Error(busy, { cause: error })
  }
}

/**
 * Locks a file as `lockTokenFile` does, with the program flock(1) of Linux. The program ends and releases the lock when
 * its standard input closes, so also when this process ends.
 */
export async function lockWithFlock(path: string, timeout: number): Promise<() => void> {
  const program = spawn('flock', [path, 'sh', '-c', 'echo locked && exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const release = () => {
    program.stdin.end()
  }
  const ended = once(program, 'exit').then(([code]) => {
    throw new Error(`cannot be locked: flock ended with exit code ${code}`)
  })
  const canceled = new AbortController()
  const late = sleep(timeout, undefined, canceled).then(() => {
    // flock may still be waiting for the lock.
    program.kill()
    release()
    throw new Error(busy)
  })
  try {
    await Promise.race([once(program.stdout, 'data'), ended, late])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('cannot be locked: install better-sqlite3, or the program flock of util-linux', { cause: error })
  } finally {
    canceled.abort()
    // The race is over: the promises that lost may reject later.
    for (const promise of [ended, late]) promise.catch(() => {})
  }
  return release
}
