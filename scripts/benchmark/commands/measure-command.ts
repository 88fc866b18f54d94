import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { childSeconds } from '../../system/process-usage.ts'

/** What a command uses: seconds until it ends, CPU seconds of all its processes, and MiB of the largest of them. */
export type Usage = { wall: number; cpu: number; memory: number }

const hook = pathToFileURL(join(import.meta.dirname, 'peak-memory.js')).href

/** Both cores: the benchmark itself, whose affinity commands would inherit, has only one. */
export const onBothCores = ['taskset', '-c', '0,1']

/** Runs a module with Node in a directory, and measures the process. Throws with its output if it fails. */
export function measureCommand(args: string[], cwd: string, given: NodeJS.ProcessEnv): Usage {
  const peaks = join(cwd, 'peak-memory.txt')
  rmSync(peaks, { force: true })
  const env = { ...given, NODE_OPTIONS: `--import=${hook}`, PEAK_MEMORY_FILE: peaks }
  const [program = '', ...before] = onBothCores
  const [begin, cpu] = [performance.now(), childSeconds()]
  const { status, stdout, stderr } = spawnSync(program, [...before, 'node', ...args], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  const usage = { wall: (performance.now() - begin) / 1_000, cpu: childSeconds() - cpu }
  if (status !== 0) throw new Error(`node ${args.join(' ')}: exit code ${status}\n${stdout}${stderr}`)
  return { ...usage, memory: Math.max(...readFileSync(peaks, 'utf8').trim().split('\n').map(Number)) / 1_024 }
}
