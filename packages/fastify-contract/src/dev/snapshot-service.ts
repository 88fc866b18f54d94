import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { within } from '../../../../scripts/system/poll.ts'

/** The time limit in milliseconds for a service to start and become ready. */
const startTimeout = 30_000

/** A running service, started from a snapshot of its code. */
export type SnapshotService = {
  directory: string
  url: string
  managementUrl: string
  /** The lines that it wrote to stderr before it was ready. */
  written: string[]
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>
  /** Stops the service gracefully; resolves when the process has ended. */
  stop(): Promise<void>
}

type Options = {
  environment?: Record<string, string>
  /** Receives the lines of stderr once the service is ready. Without it they and the log on stdout are dropped. */
  onStderr?: (line: string) => void
}

const banner = /^plant-store \S+ .*?on (\S+), store .*, management on (\S+)$/

/**
 * Starts a service on free ports; resolves when it is ready. Rejects with its output on stderr if it ends before that,
 * is not ready, or does not respond in time.
 */
export async function startSnapshot(
  directory: string,
  { environment = {}, onStderr }: Options = {},
): Promise<SnapshotService> {
  const child = spawn(process.execPath, [join(directory, 'dist', 'server.js')], {
    // Requests wait for the next service while this one drains, so it must drain fast.
    env: {
      ...process.env,
      DRAIN_TIME: '0',
      DRAIN_DEADLINE: '3000',
      // A warm-up would be wasted, because the next edit replaces this process.
      WARM_UP: 'off',
      ...environment,
      PORT: '0',
      MANAGEMENT_PORT: '0',
    },
    stdio: ['ignore', onStderr === undefined ? 'ignore' : 'inherit', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  const written: string[] = []
  let isReady = false
  const [, url = '', managementUrl = ''] = await within(
    new Promise<RegExpExecArray>((resolve, reject) => {
      createInterface(child.stderr)
        .on('line', (line) => {
          if (isReady) return onStderr?.(line)
          written.push(line)
          const found = banner.exec(line)
          if (found !== null) untilReady(found[2] as string).then(() => resolve(found), reject)
        })
        .on('close', () => reject(new Error(written.join('\n') || 'the service ended without a message')))
    }),
    () => ['the service to become ready', ...written].join('\n'),
    startTimeout,
  ).catch((error) => {
    kill()
    throw error
  })
  isReady = true
  const stop = async () => {
    child.kill('SIGINT')
    await ended
  }
  return { directory, url, managementUrl, written, ended, stop }
}

async function untilReady(managementUrl: string): Promise<void> {
  const response = await fetch(`${managementUrl}/readyz`)
  if (!response.ok) throw new Error(`the service is not ready: ${await response.text()}`)
}
