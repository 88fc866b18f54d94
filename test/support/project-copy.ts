import { cpSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Test } from 'tap'

/** What no command of the project needs. */
const left = /^packages\/[^/]+\/test$|\/node_modules$/

/** Copies the project to a directory that the test may change, and returns its path; removed when the test ends. */
export function copyProject(t: Test): string {
  const directory = t.testdir({})
  const code = ['src', 'generated', 'scripts', 'packages']
  for (const name of ['openapi', ...code, 'package.json', 'tsconfig.json', 'redocly.yaml'])
    cpSync(name, resolve(directory, name), { recursive: true, filter: (path) => !left.test(path) })
  symlinkSync(resolve('node_modules'), resolve(directory, 'node_modules'))
  return directory
}
