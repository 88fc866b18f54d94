import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runTool } from './run-tool.ts'

const workflows = join('.github', 'workflows')

/** Tool, arguments of its version command, arguments of the check. The version command shows if the tool is missing. */
const checks: [string, string[], string[]][] = [
  ['hadolint', ['--version'], ['Dockerfile']],
  ['docker', ['compose', 'version'], ['compose', '--file', 'compose.yaml', 'config', '--quiet']],
  ['kubernetes-validate', ['--version'], ['--strict', 'deploy/kubernetes.yaml']],
  ['actionlint', ['-version'], readdirSync(workflows).map((name) => join(workflows, name))],
]

for (const [tool, version, check] of checks) {
  const there = (await runTool(tool, ...version))?.code === 0
  const skip = there ? false : `NOT RUN: "${[tool, ...version].join(' ')}" fails; install it`
  t.test(`${tool} ${check.join(' ')}`, { skip }, async (t) => {
    t.same(await runTool(tool, ...check).then((run) => run?.code), 0)
  })
}
