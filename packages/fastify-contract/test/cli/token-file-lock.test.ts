import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { createLockFile } from '../../../../src/store/sqlite/sqlite-driver.ts'
import { hideSqlite } from '../../../../test/support/better-sqlite.ts'
import { nodeCommand, spawnProcess } from '../../../../test/support/child-process.ts'
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { lockTokenFile, lockWithFlock } from '../../src/cli/token-file-update.ts'

const skip = spawnSync('flock', ['--help']).error === undefined ? false : 'NOT RUN: flock is not installed'

/** A timeout (ms) that no test reaches. */
const long = 60_000

t.test('a lock that flock holds blocks other commands until its release', { skip }, async (t) => {
  const path = join(t.testdir({}), 'lock')
  const release = await lockWithFlock(path, long)
  await t.rejects(lockWithFlock(path, 50), { message: exactly('another command is changing it; try again') })
  const waiting = lockWithFlock(path, long)
  release()
  ;(await waiting)()
})

t.test('without SQLite a token file is locked by flock', { skip }, async (t) => {
  hideSqlite(t)
  const path = join(t.testdir({}), 'lock')
  const release = await lockTokenFile(path, long)
  await t.rejects(lockWithFlock(path, 50), { message: exactly('another command is changing it; try again') })
  release()
})

t.test('a lock that flock holds ends with the process of the command', { skip }, async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'lock')
  const script = join(directory, 'stuck.mjs')
  writeFileSync(
    script,
    `import { lockWithFlock } from ${JSON.stringify(resolve('packages/fastify-contract/src/cli/token-file-update.ts'))}
    await lockWithFlock(${JSON.stringify(path)}, ${long})
    console.log('locked')
    for (;;);`,
  )
  const stuck = spawnProcess(nodeCommand(script))
  t.teardown(() => stuck.signal('SIGKILL'))
  await stuck.find('stdout', /^locked$/m)
  await stuck.stop('SIGKILL')
  ;(await lockWithFlock(path, long))()
})

t.test('a lock in a missing directory and a missing flock program are reported', async (t) => {
  const directory = t.testdir({})
  mkdirSync(join(directory, 'empty'))
  if (skip === false)
    await t.rejects(lockWithFlock(join(directory, 'none', 'lock'), long), {
      message: exactly('cannot be locked: flock ended with exit code 66'),
    })
  t.throws(() => createLockFile(join(directory, 'none', 'lock')), { code: 'ENOENT' })
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = join(directory, 'empty')
  const message = 'cannot be locked: install better-sqlite3, or the program flock of util-linux'
  hideSqlite(t)
  await t.rejects(lockTokenFile(join(directory, 'lock'), long), { message: exactly(message) })
})
