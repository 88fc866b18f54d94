import { type ChildProcess, type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until, within } from './poll.ts'

/** Environment for tests: free loopback ports, no drain delay, and no load shedding on a busy machine. */
export const defaults = {
  // On a terminal, tap makes child processes print colors.
  FORCE_COLOR: '0',
  ACCESS_TOKENS: '',
  HOST: '',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DRAIN_TIME: '0',
  EVENT_LOOP_DELAY_LIMIT: '60000',
  STORE_URL: 'memory:',
}

/** How a process ended, with all its output; tests compare exactly these members. */
export type End = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/**
 * Returns an end with SIGKILL replaced by exit code 1: on a busy machine the grace of a shutdown can elapse before the log is written, and then the service kills itself.
 */
export const withKillAsExitCode = (end: End): End =>
  end.signal === 'SIGKILL' ? { ...end, code: 1, signal: null } : end

type Stream = 'stdout' | 'stderr'

export type RunningProcess = {
  child: ChildProcess
  /** The output so far. */
  output: Record<Stream, string>
  /** Resolves with the pattern's first match in the output; rejects when the process ends first, or at a deadline. */
  find(stream: Stream, pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when the process has ended and its output has been read. Never times out: see `untilEnded`. */
  ended: Promise<End>
  /** Resolves when the process has ended; rejects after a deadline (ms). */
  untilEnded(limit?: number): Promise<End>
  /** Sends a signal to the process, or to its group when it leads one; does nothing once it has ended. */
  signal(name: NodeJS.Signals): void
  /** Sends a signal (default SIGTERM) and resolves when the process has ended; rejects after a deadline. */
  stop(name?: NodeJS.Signals): Promise<End>
}

/** Starts a command with the environment above and reads its output. The child is killed when this process exits. */
export function spawnProcess([file = '', ...args]: string[], options: SpawnOptions = {}): RunningProcess {
  const child = spawn(file, args, { ...options, env: { ...process.env, ...defaults, ...options.env } })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  let hasEnded = false
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    if (options.detached) process.kill(-(child.pid as number), name)
    else child.kill(name)
  }
  const killAtExit = () => signal('SIGKILL')
  process.once('exit', killAtExit)
  const ended = once(child, 'close').then(([code, signal]): End => {
    hasEnded = true
    process.off('exit', killAtExit)
    return { code, signal, ...output }
  })
  const told = () => JSON.stringify({ exitCode: child.exitCode, ...output })

  const find = (stream: Stream, pattern: RegExp) =>
    until(
      () => {
        const found = pattern.exec(output[stream])
        if (found === null && hasEnded) throw new Error(`ended without ${pattern}: ${told()}`)
        return found
      },
      () => `${pattern} on ${stream}: ${told()}`,
    )
  const untilEnded = (limit?: number) => within(ended, () => `the end of a process: ${told()}`, limit)
  const stop = async (name: NodeJS.Signals = 'SIGTERM') => {
    signal(name)
    return await untilEnded()
  }
  return { child, output, find, ended, untilEnded, signal, stop }
}

const loader = `--import=${new URL('register-strip-types.js', import.meta.url)}`

/** Returns the command that runs a TypeScript module; tap measures its coverage. */
export const nodeCommand = (module: string): string[] => [process.execPath, loader, module]

/** Environment in which a process reports the version of Node 18. */
export const oldNode = {
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require=${fileURLToPath(new URL('old-node.cjs', import.meta.url))}`,
}

/** Runs a TypeScript module in a child process with coverage; kills it when the test ends. */
export const run = (t: Test, module: string, environment?: Record<string, string>, args: string[] = [], cwd?: string) =>
  runCommand(t, [...nodeCommand(module), ...args], environment, cwd)

/** Runs a command in a child process; kills it when the test ends. */
export function runCommand(t: Test, command: string[], environment: Record<string, string> = {}, cwd = '.') {
  const running = spawnProcess(command, { cwd, env: environment })
  t.teardown(() => running.signal('SIGKILL'))
  return { ...running, child: running.child as ChildProcessWithoutNullStreams }
}
