import { spawnProcess } from 'fastify-contract-test-support/child-process'

/** How a process ended. */
export type BoundedEnd = {
  code: number | null
  stdout: string
  stderr: string
  seconds: number
  /** Whether it was killed at the bound. */
  isBounded: boolean
}

/** Runs a command until it ends, a number of seconds is over, or the signal aborts it; the last throws. */
export async function runBounded(
  command: string[],
  { seconds: most, signal, ...options }: BoundedOptions,
): Promise<BoundedEnd> {
  signal.throwIfAborted()
  const start = performance.now()
  const running = spawnProcess(command, options)
  const kill = () => running.signal('SIGKILL')
  let isBounded = false
  const timer = setTimeout(function killAtBound() {
    isBounded = true
    kill()
  }, most * 1_000)
  signal.addEventListener('abort', kill)
  const { code, stdout, stderr } = await running.ended
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  return { code, stdout, stderr, seconds: (performance.now() - start) / 1_000, isBounded }
}

type BoundedOptions = { seconds: number; signal: AbortSignal; cwd?: string; env?: Record<string, string> }
