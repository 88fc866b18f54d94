import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the comparison needs beside this repository, in a directory of its own. */
export type Installed = {
  directory: string
  /** The program of Schemathesis. */
  schemathesis: string
  /** The interpreter that has FastAPI. */
  fastapi: string
  /** The source of FastAPI's tutorial of SQL databases, under the MIT license. */
  tutorial: string
}

export const versions = { schemathesis: '4.32.5', fastapi: '0.165.0', uvicorn: '0.54.0', sqlmodel: '0.0.50' }

const root = `fastapi-${versions.fastapi}`
const tutorialPath = `${root}/docs_src/sql_databases/tutorial002.py`

/** Milliseconds for each command. */
const maxMilliseconds = 300_000

/** Installs Schemathesis, and FastAPI with its tutorial, which only its source distribution has. Throws if pip fails. */
export function install(directory: string): Installed {
  const [tool, service] = ['schemathesis', 'fastapi'].map((name) => join(directory, name)) as [string, string]
  for (const environment of [tool, service]) run('python3', '-m', 'venv', environment)
  const { schemathesis, ...others } = versions
  run(join(tool, 'bin/pip'), 'install', '--quiet', `schemathesis==${schemathesis}`)
  const packages = Object.entries(others).map(([name, version]) => `${name}==${version}`)
  run(join(service, 'bin/pip'), 'install', '--quiet', ...packages)
  const source = `fastapi==${versions.fastapi}`
  const download = ['download', '--quiet', '--no-deps', '--no-binary=:all:', `--dest=${directory}`, source]
  run(join(service, 'bin/pip'), ...download)
  run('tar', '-xzf', join(directory, `${root}.tar.gz`), '-C', directory, tutorialPath)
  writeFileSync(join(directory, 'installed'), '')
  return installed(directory)
}

/** Returns what is installed in a directory. */
export const installed = (directory: string): Installed => ({
  directory,
  schemathesis: join(directory, 'schemathesis/bin/st'),
  fastapi: join(directory, 'fastapi/bin/python'),
  tutorial: join(directory, tutorialPath),
})

function run(command: string, ...args: string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: maxMilliseconds })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
}
