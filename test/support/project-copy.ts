import { cpSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Test } from 'tap'

/** A copy of the project that a test may change, removed when it ends; gives its directory. */
export function copyProject(t: Test): string {
  const directory = t.testdir({})
  const code = ['src', 'generated', 'scripts']
  for (const name of ['openapi', ...code, 'package.json', 'tsconfig.json', 'redocly.yaml']) {
    cpSync(name, resolve(directory, name), { recursive: true, filter: (path) => path !== 'scripts/benchmark/peers' })
  }
  symlinkSync(resolve('node_modules'), resolve(directory, 'node_modules'))
  return directory
}
