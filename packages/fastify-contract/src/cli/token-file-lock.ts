import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockFile, NoSqlite } from '../../../../src/store/sqlite/sqlite-driver.ts'

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
