import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { settlesWithin, waitUntil } from '../../scripts/system/wait-until.ts'
import { newToken } from '../../src/auth/tokens.ts'

/** The access token of every service that this process starts. */
export const token = newToken()

export type End = { code: number | null; signal: NodeJS.Signals | null }

/** Free loopback ports, no access log, no drain time, and no load shedding by a busy machine. */
const quiet = {
  HOST: '',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DRAIN_TIME: '0',
  EVENT_LOOP_DELAY_LIMIT: '60000',
  ACCESS_LOG: 'off',
}

/** A service in a process of its own. */
export type Service = {
  port: number
  /** Process id of the service, or of the command that runs it. */
  pid: number
  /** Returns what the process wrote to stderr so far, without the banner. */
  stderr(): string
  /** Resolves when the process has ended. */
  ended: Promise<End>
  /** Sends SIGTERM; resolves when the process has ended. */
  stop(): Promise<End>
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<End>
}

export type ServiceOptions = {
  /** A command, with arguments, that runs the service; for example strace. */
  command?: string[]
  environment?: Record<string, string>
  /** The project directory whose build runs; default: this one. */
  project?: string
}

/** A service that may not listen yet. */
export type Starting = Omit<Service, 'port'> & {
  /** Resolves with the port. Rejects with what the process wrote to stderr when it ends before it listens. */
  listening(): Promise<number>
}

/** Starts the built service on a free port; resolves when it listens. */
export async function startService(storeUrl: string, options: ServiceOptions = {}): Promise<Service> {
  const { listening, ...service } = spawnService(storeUrl, options)
  return { port: await listening(), ...service }
}

/** Spawns the built service without waiting until it listens. */
export function spawnService(storeUrl: string, options: ServiceOptions = {}): Starting {
  const { command = [], environment = {}, project = '.' } = options
  const [file = '', ...args] = [...command, process.execPath, 'dist/server.js']
  // A process group of its own, so that a signal reaches the service behind the command that runs it.
  const child = spawn(file, args, {
    cwd: project,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...quiet, ACCESS_TOKENS: token, STORE_URL: storeUrl, ...environment },
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), name)
  }
  const killAtExit = () => signal('SIGKILL')
  process.once('exit', killAtExit)
  let hasEnded = false
  const ended = once(child, 'close').then(([code, signal]): End => {
    hasEnded = true
    process.off('exit', killAtExit)
    return { code, signal }
  })
  const end = (name: NodeJS.Signals) => async () => {
    signal(name)
    return await settlesWithin(`the service to end after ${name}`, ended)
  }
  const listening = async () => {
    const port = () => / on http:\/\/\S+:(\d+),/.exec(output.stderr)?.[1]
    await waitUntil('the service to listen', () => port() !== undefined || hasEnded)
    if (port() === undefined) throw new Error(`the service ended before it listened: ${output.stderr}`)
    return Number(port())
  }
  return {
    listening,
    pid: child.pid as number,
    stderr: () => output.stderr.replace(/^plant-store \S+ on .*\n/, ''),
    ended,
    stop: end('SIGTERM'),
    kill: end('SIGKILL'),
  }
}
