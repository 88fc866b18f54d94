import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockFile } from '../store/file-lock.ts'
import { NoSqlite } from '../store/sqlite-driver.ts'

const busy = 'another command changes it'

/**
 * Locks a file for a command that changes the tokens file, and returns what releases the lock, which also ends with the
 * process. Rejects when another command keeps the lock for longer than `timeout` milliseconds. Where SQLite is missing,
 * the lock is that of the program flock(1); the two kinds do not exclude each other.
 */
export async function lockTokensFile(path: string, timeout: number): Promise<() => void> {
  try {
    return lockFile(path, timeout)
  } catch (error) {
    if (error instanceof NoSqlite) return await lockByProgram(path, timeout)
    throw new Error(busy, { cause: error })
  }
}

/**
 * Locks a file by flock(1), which Linux has and Node has not. The program ends when its input does, with this process.
 */
export async function lockByProgram(path: string, timeout: number): Promise<() => void> {
  const program = spawn('flock', [path, 'sh', '-c', 'echo locked && exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const release = () => {
    program.stdin.end()
  }
  const ended = once(program, 'exit').then(() => {
    throw new Error('flock has failed')
  })
  const waited = new AbortController()
  const late = sleep(timeout, undefined, waited).then(() => {
    // It may still wait for the lock.
    program.kill()
    release()
    throw new Error(busy)
  })
  try {
    await Promise.race([once(program.stdout, 'data'), ended, late])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('it cannot be locked: install better-sqlite3, or the program flock of util-linux', { cause: error })
  } finally {
    waited.abort()
    // What is decided is of no interest any more.
    for (const promise of [ended, late]) promise.catch(() => {})
  }
  return release
}
