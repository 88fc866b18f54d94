import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { newToken } from '../../src/auth/tokens.ts'

/** The access token of every service that is started here. */
export const token = newToken()

export type End = { code: number | null; signal: NodeJS.Signals | null }

/** On free ports of the loopback address, without a log, and ending as soon as it is told to. */
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
  /** Of the service, or of what runs it. */
  pid: number
  /** What it has written to stderr so far, but for the line of its start. */
  stderr(): string
  /** Resolves when the process has ended, whoever ended it. */
  ended: Promise<End>
  /** Stops it as an operator does; resolves when it has ended. */
  stop(): Promise<End>
  /** Ends it at once, as kill -9; resolves when it has ended. */
  kill(): Promise<End>
}

export type ServiceOptions = {
  /** What runs it, with the arguments: strace, for one. */
  command?: string[]
  environment?: Record<string, string>
  /** The project whose build runs; default: this one. */
  project?: string
}

/** A service that need not listen yet. */
export type Starting = Omit<Service, 'port'> & {
  /** Resolves with the port; rejects with what was written to stderr when the process ends before it listens. */
  listening(): Promise<number>
}

/** Takes a STORE_URL; starts the built service (see `bundle`) on a free port, and gives it once it listens. */
export async function startService(storeUrl: string, options: ServiceOptions = {}): Promise<Service> {
  const { listening, ...service } = spawnService(storeUrl, options)
  return { port: await listening(), ...service }
}

/** As `startService`, without waiting. */
export function spawnService(storeUrl: string, options: ServiceOptions = {}): Starting {
  const { command = [], environment = {}, project = '.' } = options
  const [file = '', ...args] = [...command, process.execPath, 'dist/server.js']
  // A group of its own: a signal must reach the service, whatever runs it.
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
  const ended = once(child, 'close').then(([code, signal]): End => {
    process.off('exit', killAtExit)
    return { code, signal }
  })
  const end = (name: NodeJS.Signals) => async () => {
    signal(name)
    return await ended
  }
  const listening = async () => {
    for (;;) {
      const port = / on http:\/\/\S+:(\d+),/.exec(output.stderr)?.[1]
      if (port !== undefined) return Number(port)
      const hasEnded = await Promise.race([once(child.stderr, 'data').then(() => false), ended.then(() => true)])
      if (hasEnded) throw new Error(`the service ended before it listened: ${output.stderr}`)
    }
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
