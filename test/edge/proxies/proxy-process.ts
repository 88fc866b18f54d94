import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { until } from 'fastify-contract-test-support/poll'

/** A running proxy program. */
export type ReverseProxy = { port: number; stop(): Promise<unknown> }

/** Writes a file of lines and returns its path. */
export function write(directory: string, name: string, parts: string[]): string {
  const path = join(directory, name)
  writeFileSync(path, `${parts.join('\n')}\n`)
  return path
}

/** Starts a proxy program; resolves when it listens. */
export async function startProxy(command: string[], port: number): Promise<ReverseProxy> {
  // A separate process group, so that a signal reaches the proxy's workers, too.
  const running = spawnProcess(command, { detached: true })
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined))
      socket.on('error', () => resolve(false))
    })
  await until(async () => {
    if (running.child.exitCode !== null) throw new Error(`${command[0]} ended: ${running.output.stderr}`)
    return await listens()
  }, `${command[0]} listens`)
  return { port, stop: () => running.stop() }
}
