import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseTokenFile, readTokenFile, type TokenEntry } from '../auth/token-file.ts'
import { createLockFile, openAtomicFile, realPathOf } from './atomic-file.ts'

/**
 * Locks a file. Resolves with a function that releases the lock, which the end of the process releases too. Resolves
 * with undefined when another process holds the lock for longer than `timeout` milliseconds.
 */
export type LockFile = (path: string, timeout: number) => Promise<(() => void) | undefined>

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
  lockFile: LockFile = lockWithFlock,
): Promise<T> {
  // All links to a file share its lock.
  const real = realPathOf(path)
  const lock = `${real}-lock`
  // Without this mode, any user could open the file, lock it and so block the command.
  createLockFile(lock)
  const release = await lockFile(lock, lockTimeout)
  if (release === undefined) throw new Error('another command is changing it; try again')
  try {
    const changed = change(existsSync(real) ? await readTokens(real) : [])
    const text = `${JSON.stringify({ tokens: changed.entries }, null, 2)}\n`
    parseTokenFile(text)
    const file = await openAtomicFile(real)
    await file.write(text).then(file.finish).finally(file.close)
    return changed
  } finally {
    release()
  }
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
  const late = sleep(timeout, undefined, canceled).then(() => {
    // flock may still be waiting for the lock.
    program.kill()
    release()
    return undefined
  })
  try {
    return await Promise.race([locked, ended, late])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('cannot be locked: install the program flock of util-linux', { cause: error })
  } finally {
    canceled.abort()
    // The race is over: the promises that lost may reject later.
    for (const promise of [locked, ended, late]) promise.catch(() => {})
  }
}
