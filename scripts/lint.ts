import { spawnSync } from 'node:child_process'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run lint [-- --fix]

Checks the document with the rules of redocly.yaml and scripts/lint, the code with those of biome.json, and the types.
With --fix it first formats the code and applies safe fixes. Always runs all three checks; exits with 1 if one of them
has findings.
`,
  { fix: false },
)

const code = options.fix ? ['check', '--write', '--error-on-warnings'] : ['ci', '--error-on-warnings']
const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
for (const [command, ...args] of [['redocly', 'lint'], ['biome', ...code, '.'], ['tsc']]) {
  // npm adds the commands of the installed packages to PATH.
  const { status } = spawnSync(command as string, args, { stdio: 'inherit', env: environment })
  if (status !== 0) process.exitCode = 1
}
