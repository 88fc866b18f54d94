import { spawnSync } from 'node:child_process'
import t from 'tap'

const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' })
const skip = git('rev-parse').status !== 0 && 'NOT RUN: this is no clone of git'

t.test('git ignores the files that the documented commands create', { skip }, async (t) => {
  const made = [
    'data/plants.db',
    'plants.db',
    'plants.db-wal',
    'plants.db-lock',
    'copy.db',
    'tokens.json',
    'tokens.json-lock',
    'my-store.js',
    'my-store.test.js',
    'plants-a1B2c3/plants.db',
    'secrets/password',
    'dist/sbom.cdx.json',
    'plant-store-1.0.0.tgz',
  ]
  t.same(
    git('check-ignore', ...made)
      .stdout.trim()
      .split('\n'),
    made,
  )
  t.equal(git('ls-files', '--ignored', '--cached', '--exclude-standard').stdout, '', 'git ignores no committed file')
})
