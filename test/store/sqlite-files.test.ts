import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { watchFileIdentity } from '../../src/store/sqlite/sqlite-files.ts'

/** Watches two new files. `check` calls a guarded function, and returns the files that were read for it. */
function watchNew(t: Test) {
  const directory = t.testdir({ 'plants.db': '', 'plants.db-wal': 'log' })
  const path = join(directory, 'plants.db')
  let read: string[] = []
  const files = watchFileIdentity(path, function statAndCount(file) {
    read.push(file)
    return statSync(file, { throwIfNoEntry: false })
  })
  function check(): string[] {
    read = []
    files.guard(() => {})()
    return read.filter((file) => file !== directory)
  }
  return { path, check, journalBytes: files.journalBytes }
}

t.test('the files are not read at each commit once their directory has not changed for a while', async (t) => {
  const { path, check, journalBytes } = watchNew(t)
  const both = [path, `${path}-wal`]
  t.same(check(), [...both, ...both], 'the directory has just changed')
  t.equal(journalBytes(), 3)
  await until(() => check().length === 0, 'the files are not read')
  writeFileSync(`${path}-wal`, 'longer')
  await until(() => check() && journalBytes() === 6, 'the log is measured again')
})

t.test('a file that was replaced after a while is found at the next commit, as long as it is away', async (t) => {
  const { path, check } = watchNew(t)
  for (const file of [path, `${path}-wal`]) {
    await until(() => check().length === 0, 'the files are not read')
    renameSync(file, `${path}-away`)
    t.throws(check, /was removed or replaced/)
    writeFileSync(file, '')
    t.throws(check, /was removed or replaced/)
    // Longer than a file system may keep the times of a directory the same.
    await setTimeout(4_000)
    t.throws(check, /was removed or replaced/, 'after the directory has not changed for a while')
    renameSync(`${path}-away`, file)
    check()
  }
})
