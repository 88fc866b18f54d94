import { readdirSync, readlinkSync } from 'node:fs'
import { until } from '../../../scripts/system/poll.ts'

/**
 * Returns the ids of the processes whose working directory is `directory` or inside it. Patroni starts PostgreSQL in a
 * session of its own, so neither a process group nor a parent tells what belongs to a node.
 */
export function processesIn(directory: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const path = readlinkSync(`/proc/${name}/cwd`)
      return path === directory || path.startsWith(`${directory}/`) ? [Number(name)] : []
    } catch {
      // The process has ended, or is another user's.
      return []
    }
  })
}

/** Sends a signal to every process in a directory; returns how many it has reached. */
export function signalIn(directory: string, signal: NodeJS.Signals): number {
  const processes = processesIn(directory)
  for (const pid of processes) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended.
    }
  }
  return processes.length
}

/** Sends SIGKILL to every process in a directory until there is none, also to those that are started meanwhile. */
export async function killIn(directory: string): Promise<void> {
  await until(() => signalIn(directory, 'SIGKILL') === 0, `the processes in ${directory} to end`)
}

/** Stops every process in a directory with SIGSTOP. A server that is stopped starts no more, so twice is enough. */
export function freezeIn(directory: string): void {
  signalIn(directory, 'SIGSTOP')
  signalIn(directory, 'SIGSTOP')
}
