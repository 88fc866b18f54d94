import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/** On free ports of the loopback address, ending as soon as it is told to, and patient with a busy machine. */
export const defaults = {
  ACCESS_TOKENS: '',
  HOST: '',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DRAIN_TIME: '0',
  EVENT_LOOP_DELAY_LIMIT: '60000',
  STORE_URL: 'memory:',
}

/** Runs a module in a process of its own, killed when the test ends, with the loader and the coverage of the tests. */
export function run(t: Test, module: string, environment: Record<string, string> = {}, args: string[] = [], cwd = '.') {
  const child = spawn(process.execPath, [...process.execArgv, module, ...args], {
    cwd,
    env: { ...process.env, ...defaults, ...environment },
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))

  /** Resolves with what a pattern finds in the output; rejects when the process ends without it. */
  const find = async (stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(output[stream])
      if (found !== null) return found
      const more = await Promise.race([once(child[stream], 'data'), ended])
      if (!Array.isArray(more)) throw new Error(`ended without ${pattern}: ${JSON.stringify(more)}`)
    }
  }
  return { child, output, find, ended }
}
