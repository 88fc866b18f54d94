import { readdirSync, readlinkSync } from 'node:fs'
import { until } from 'fastify-contract-test-support/poll'

/**
 * Returns the ids of the processes whose working directory is `directory` or below. Patroni starts PostgreSQL in
 * another session, so neither the process group nor the parent identifies the processes of a node.
 */
export function processesIn(directory: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const path = readlinkSync(`/proc/${name}/cwd`)
      return path === directory || path.startsWith(`${directory}/`) ? [Number(name)] : []
    } catch {
      // The process has ended or belongs to another user.
      return []
    }
  })
}

/** Sends a signal to every process in a directory; returns the number of processes. */
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

/** Sends SIGKILL to the processes in a directory until there are none, including those that start meanwhile. */
export async function killIn(directory: string): Promise<void> {
  await until(() => signalIn(directory, 'SIGKILL') === 0, `the processes in ${directory} to end`)
}

/** Stops every process in a directory with SIGSTOP. A second pass catches children started during the first. */
export function freezeIn(directory: string): void {
  signalIn(directory, 'SIGSTOP')
  signalIn(directory, 'SIGSTOP')
}
