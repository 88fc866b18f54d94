import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'
import { largeId, serveTools, token } from '../support/serve-tools.ts'

/** The package mcp of PyPI: the first of its releases that speak revision 2026-07-28 are 2.x. */
const release = 'mcp==2.3.0'

/** Milliseconds for an installation on a slow machine. */
const installTime = 300_000

const environment = join(await mkdtemp(join(tmpdir(), 'python-client-')), 'venv')
t.teardown(() => rm(join(environment, '..'), { recursive: true, force: true }))
const python = join(environment, 'bin', 'python')

/** Runs commands in order; returns the output of the first that fails, or undefined. */
async function failureOf(commands: string[][]): Promise<string | undefined> {
  for (const command of commands) {
    const { code, stderr } = await spawnProcess(command)
      .untilEnded(installTime)
      .catch((error: Error) => ({ code: -1, stderr: error.message }))
    if (code !== 0) return stderr
  }
  return undefined
}

const failure = await failureOf([
  ['python3', '-m', 'venv', environment],
  [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', release],
])
const skip = failure !== undefined && `NOT RUN: ${release} was not installed: ${failure}`

const tree = {
  id: largeId,
  age: 300,
  height: 1.5,
  girth: 1e300,
  planted: '2026-01-31',
  'x-any': '-9223372036854775808',
  branches: [{ id: '1', 'x-any': '7', branches: [] }],
}

for (const [mode, revision] of [
  ['legacy', '2025-11-25'],
  ['2026-07-28', '2026-07-28'],
  ['auto', '2026-07-28'],
] as const) {
  t.test(`the Python client in the mode ${mode} lists and calls tools`, { skip }, async (t) => {
    const { url } = await serveTools(t)
    const { code, stdout, stderr } = await spawnProcess([
      python,
      ownPath('test/mcp/python-client.py'),
      url,
      token,
      mode,
    ]).untilEnded(installTime)
    t.equal(code, 0, stderr)
    const wrapped = (value: unknown) => (revision === '2025-11-25' ? { result: value } : value)
    t.same(JSON.parse(stdout), {
      revision,
      tools: ['find_tree', 'putTree', 'fellTree', 'listTrees', 'measure', 'notes', 'wait'],
      results: {
        find_tree: tree,
        listTrees: wrapped([tree]),
        measure: wrapped(largeId),
        notes: null,
        fellTree: null,
      },
      errors: [],
      failed: [true, 'HTTP 404 {"message":"there is no such tree"}'],
    })
  })
}
