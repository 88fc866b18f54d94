import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { onBothCores } from '../commands/measure-command.ts'
import type { Installation } from '../implementations.ts'

/**
 * Runs the command that fills each store with plants, and returns its table. `quick` is for the smallest number only.
 * Throws if it fails; its messages are on stderr.
 */
export function storesTable({ env }: Pick<Installation, 'env'>, quick: boolean): string {
  const [program = '', ...before] = onBothCores
  const args = ['tsx', join('scripts', 'benchmark', 'growth', 'stores.ts'), ...(quick ? ['--plants', '10000'] : [])]
  const { status, stdout } = spawnSync(program, [...before, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`scripts/benchmark/growth/stores.ts: exit code ${status}; see its messages above`)
  return stdout.trim()
}
