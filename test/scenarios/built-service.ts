import type { HttpResponse } from 'fastify-contract-test-support/http-request'
import { spawnService as spawnAnyService } from '../support/service-process.ts'
import { token } from '../support/test-app.ts'

export { token }

export type End = { code: number | null; signal: NodeJS.Signals | null }

/** The built service in a child process. */
export type Service = {
  port: number
  /** Process id of the service, or of the command that runs it. */
  pid: number
  /** Fetches a page of the admin server. */
  page(path: string): Promise<HttpResponse>
  /** Returns what the process has written to stderr so far, without the banner. */
  stderr(): string
  /** Resolves when the process has ended. */
  ended: Promise<End>
  /** Sends SIGTERM; resolves when the process has ended. */
  stop(): Promise<End>
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<End>
}

export type ServiceOptions = {
  /** A wrapper command, with arguments, that runs the service; for example strace. */
  command?: string[]
  environment?: Record<string, string>
  /** Directory of the project whose build runs; default: this one. */
  project?: string
}

/** A service that may not listen yet. */
export type Starting = Omit<Service, 'port'> & {
  /** Resolves with the port. Rejects with the output of the process when it ends before it listens. */
  listening(): Promise<number>
}

/** Starts the built service on a free port, without an access log; resolves when it listens. */
export async function startService(storeUrl: string, options: ServiceOptions = {}): Promise<Service> {
  const { listening, ...service } = spawnService(storeUrl, options)
  return { port: await listening(), ...service }
}

/** Spawns the built service without waiting until it listens. */
export function spawnService(storeUrl: string, options: ServiceOptions = {}): Starting {
  const { command = [], environment = {}, project = '.' } = options
  const running = spawnAnyService(
    { ACCESS_LOG: 'off', STORE_URL: storeUrl, ...environment },
    // A separate process group, so that a signal reaches the service behind its wrapper command.
    { command: [...command, process.execPath, 'dist/server.js'], cwd: project, detached: true },
  )
  return {
    listening: async () => (await running.serving()).port,
    page: async (path) => await (await running.serving()).page(path),
    pid: running.child.pid as number,
    stderr: () => running.output.stderr.replace(/^plant-store \S+ on .*\n/, ''),
    ended: running.ended,
    stop: () => running.stop(),
    kill: () => running.stop('SIGKILL'),
  }
}
