import { spawnSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'
import { linkProblems, markdownPages } from './lint/markdown-links.ts'
import { commandLine } from './system/command-line.ts'
import { installTools } from './system/install-tools.ts'

const { options } = commandLine(
  `npm run lint [-- --fix]

Checks the document by the rules of redocly.yaml and scripts/lint, the code by those of biome.json, the types, the
spelling by scripts/lint/cspell.yaml and its words.txt, and the links between pages. With --fix it first formats the
code and repairs what can be repaired without changing what the code does. Runs all checks; exits with 1 if one of them
has findings. First installs the linters of scripts/lint, which npm ci leaves out, if they are missing or outdated.
`,
  { fix: false },
)

const code = options.fix ? ['check', '--write', '--error-on-warnings'] : ['ci', '--error-on-warnings']
const spelling = ['--config', 'scripts/lint/cspell.yaml', '--no-progress', '--no-summary']
installTools('scripts/lint')
const environment = {
  ...process.env,
  // npm adds the commands of the project's own packages.
  PATH: [resolve('scripts/lint/node_modules/.bin'), process.env.PATH].join(delimiter),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
}
for (const [command, ...args] of [['redocly', 'lint'], ['biome', ...code, '.'], ['tsc'], ['cspell', ...spelling]]) {
  const { status } = spawnSync(command as string, args, { stdio: 'inherit', env: environment })
  if (status !== 0) process.exitCode = 1
}
const problems = markdownPages('.').flatMap((page) => linkProblems('.', page))
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
