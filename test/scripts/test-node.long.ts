import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import t, { type Test } from 'tap'

/** A stub of npm that records its arguments and the environment of the commands that npm would run. */
const npm = `#!/usr/bin/env bash
{ echo "npm $*"; pwd; } >> "$NOTES"
case "$1" in
  install) mkdir -p node_modules/node/bin
    printf '#!/bin/sh\\necho the other node' > node_modules/node/bin/node
    chmod +x node_modules/node/bin/node ;;
  test) { node --version; ls -ld .. | cut -c1-10; ls -A; } >> "$NOTES"; exit 3 ;;
esac
`

type Options = {
  project?: Record<string, string | Record<string, never>>
  args?: string[]
  npm?: string
}

/** Runs the command with the npm stub. Resolves to its exit code, its stderr and the lines that the stub recorded. */
async function testNode(t: Test, { project = {}, args = [], ...given }: Options) {
  const directory = t.testdir({ npm: given.npm ?? npm, temporary: {}, project })
  chmodSync(join(directory, 'npm'), 0o755)
  const notes = join(directory, 'notes')
  const env = {
    ...process.env,
    PATH: [directory, process.env.PATH].join(delimiter),
    TMPDIR: join(directory, 'temporary'),
    NOTES: notes,
  }
  const command = ['--import', resolve('node_modules/tsx/dist/esm/index.mjs'), resolve('scripts/test-node.ts'), ...args]
  return new Promise<{ code: unknown; stderr: string; notes: string[] }>((done) =>
    execFile(process.execPath, command, { cwd: join(directory, 'project'), env }, (error, _stdout, stderr) => {
      const lines = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []
      done({ code: error?.code ?? 0, stderr, notes: lines })
    }),
  )
}

t.test('the tests run in a copy, by the other Node, with the arguments of the caller', async (t) => {
  const given = { 'package.json': '{}', src: {}, node_modules: {}, dist: {}, '.git': {}, '.ci': {}, data: {} }
  const { code, notes } = await testNode(t, { project: given, args: ['24', 'a.test.ts', '--bail'] })
  t.equal(code, 3, 'the exit code of the tests')
  const [install, , ci, copy = '', test, , version, mode, ...files] = notes
  t.same([install, ci, test], ['npm install --no-save node@24', 'npm ci', 'npm test -- a.test.ts --bail'])
  t.equal(version, 'the other node')
  t.equal(mode, 'drwx--x--x', 'another user can read the source')
  t.same(files.sort(), ['.ci', 'package.json', 'src'])
  t.notOk(existsSync(copy), 'the copy is removed')
})

t.test('a Node version that cannot be installed runs no test', async (t) => {
  const failing = '#!/usr/bin/env bash\necho "npm $*" >> "$NOTES"\nexit 4\n'
  const { code, notes } = await testNode(t, { args: ['24.99'], npm: failing })
  t.same({ code, notes }, { code: 4, notes: ['npm install --no-save node@24.99'] })
})

t.test('a missing version is reported', async (t) => {
  for (const args of [[], ['latest'], ['--helpless'], ['v24']]) {
    const { code, stderr, notes } = await testNode(t, { args })
    t.same({ code, notes }, { code: 1, notes: [] })
    t.match(stderr, /^usage: npx tsx scripts\/test-node\.ts VERSION /)
  }
})
