import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { within } from '../system/poll.ts'
import { type Directory, program, unprivileged } from './postgres-programs.ts'

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const

/** The shutdown modes of PostgreSQL, and `kill`, which sends SIGKILL to the main process. */
export type StopMode = keyof typeof signals

/** A running server; `stop` resolves when every process of it has ended. */
export type ServerProcess = { stop(mode: StopMode): Promise<void> }

/**
 * Runs the server of a data directory; resolves when it accepts connections. Rejects with its log if it ends before
 * that. The server does not keep this process alive.
 */
export async function runServer(
  directory: Directory,
  settings: Record<string, string>,
  onLog: (text: string) => void,
): Promise<ServerProcess> {
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(program('postgres'), ['-D', directory.data, ...args], {
    ...unprivileged,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  directory.guard(child.pid)
  // All server processes share the log's pipe, which closes when the last one ends.
  const ended = once(child, 'close').then(() => directory.guard(undefined))
  let log = ''
  const ready = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      onLog(text)
      log += text
      if (/ready to accept (read-only )?connections/.test(log)) resolve()
    })
  })
  const failed = ended.then(() => {
    throw new Error(`PostgreSQL ended: ${log}`)
  })
  await within(Promise.race([ready, failed]), 'PostgreSQL to accept connections')
  const pipe = child.stderr as Socket
  child.unref()
  pipe.unref()
  return {
    async stop(mode) {
      child.ref()
      pipe.ref()
      child.kill(signals[mode])
      await within(ended, `PostgreSQL to end after a ${mode} stop`)
    },
  }
}
