import { chmodSync, readFileSync, utimesSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'

/** A stub of npm, which records its arguments and marks the folder that follows --prefix as installed. */
const npm = `#!/bin/sh
echo "npm $*" >> notes
echo out; echo reason >&2
[ -z "$FAILS" ] || exit 7
mkdir -p "$3/node_modules" && touch "$3/node_modules/.package-lock.json"
`

/** Creates a project with two folders; returns functions that install their packages and return the calls of npm. */
function project(t: Test) {
  const directory = t.testdir({
    bin: { npm },
    notes: '',
    a: { 'package-lock.json': '' },
    b: { 'package-lock.json': '' },
  })
  chmodSync(join(directory, 'bin', 'npm'), 0o755)
  const PATH = [join(directory, 'bin'), process.env.PATH].join(delimiter)
  const command = resolve('scripts/install-tools.ts')
  return {
    directory,
    install: (...args: string[]) => run(t, command, { PATH }, args, directory).untilEnded(),
    failToInstall: (...args: string[]) => run(t, command, { PATH, FAILS: '1' }, args, directory).untilEnded(),
    calls: () => readFileSync(join(directory, 'notes'), 'utf8').trim().split('\n').filter(Boolean),
  }
}

t.test('the packages of a folder are installed if they are missing, or older than its lock file', async (t) => {
  const { directory, install, calls } = project(t)
  t.match(await install('a', 'b'), {
    code: 0,
    stdout: '',
    stderr: 'installing the packages of a\nreason\ninstalling the packages of b\nreason\n',
  })
  const first = ['npm ci --prefix a --loglevel=error', 'npm ci --prefix b --loglevel=error']
  t.same(calls(), first)
  t.match(await install('a', 'b'), { code: 0, stderr: '' })
  t.same(calls(), first)
  const later = Date.now() / 1_000 + 60
  utimesSync(join(directory, 'a', 'package-lock.json'), later, later)
  await install('a', 'b')
  t.same(calls(), [...first, first[0]])
})

t.test('a failed installation ends the command with the reason', async (t) => {
  const { failToInstall, calls } = project(t)
  t.match(await failToInstall('a', 'b'), {
    code: 1,
    stderr: /\nreason\nnpm ci --prefix a failed; correct its cause, and run the command again\n$/,
  })
  t.equal(calls().length, 1)
})
