import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

// Installs the packages of this repository, unless the installed ones are newer than package-lock.json. JavaScript, since
// one of the packages is tsx, which runs the other scripts.
const [wanted = 0, installed = 0] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
  (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs,
)
if (installed < wanted) {
  process.stderr.write('init: installing the packages of this repository, once, with npm ci\n')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
