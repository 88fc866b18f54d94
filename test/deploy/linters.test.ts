import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runTool } from './run-tool.ts'

const workflows = join('.github', 'workflows')

/** Each is first asked for its version: a plug-in that is missing is not a file that is wrong. */
const checks: [string, string[], string[]][] = [
  ['hadolint', ['--version'], ['Dockerfile']],
  ['docker', ['compose', 'version'], ['compose', '--file', 'compose.yaml', 'config', '--quiet']],
  ['kubernetes-validate', ['--version'], ['--strict', 'deploy/kubernetes.yaml']],
  ['actionlint', ['-version'], readdirSync(workflows).map((name) => join(workflows, name))],
]

for (const [tool, version, check] of checks) {
  const there = (await runTool(tool, ...version))?.code === 0
  const skip = there ? false : `NOT RUN: there is no ${tool} ${version[0]?.replace(/^-.*/, '')}`.trim()
  t.test(`${tool} ${check.join(' ')}`, { skip }, async (t) => {
    t.same(await runTool(tool, ...check).then((run) => run?.code), 0)
  })
}
