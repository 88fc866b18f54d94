import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { nodeCommand, spawnProcess } from '../../../../test/support/child-process.ts'
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { lockWithFlock } from '../../src/cli/token-file-update.ts'
import { createLockFile } from '../../src/service/atomic-file.ts'

const skip = spawnSync('flock', ['--help']).error === undefined ? false : 'NOT RUN: flock is not installed'

/** A timeout (ms) that no test reaches. */
const long = 60_000

t.test('a lock that flock holds blocks other commands until its release', { skip }, async (t) => {
  const path = join(t.testdir({}), 'lock')
  const release = await lockWithFlock(path, long)
  t.equal(await lockWithFlock(path, 50), undefined)
  const waiting = lockWithFlock(path, long)
  release?.()
  ;(await waiting)?.()
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
  ;(await lockWithFlock(path, long))?.()
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
  const message = exactly('cannot be locked: install the program flock of util-linux')
  await t.rejects(lockWithFlock(join(directory, 'lock'), long), { message })
})
