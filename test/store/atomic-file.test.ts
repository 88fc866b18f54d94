import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import t from 'tap'
import { createLockFile, openAtomicFile } from '../../src/store/atomic-file.ts'

t.test('a file gets its name when it is complete, readable by its owner only', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.jsonl')
  const file = await openAtomicFile(path)
  await file.write('a\n')
  await file.write('b\n')
  t.same(readdirSync(directory), ['plants.jsonl.unfinished'])
  await file.finish()
  await file.close()
  t.same(readdirSync(directory), ['plants.jsonl'])
  t.equal(readFileSync(path, 'utf8'), 'a\nb\n')
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('an existing file keeps its mode and links, and its content until the new file is complete', async (t) => {
  const directory = t.testdir({ real: { 'plants.jsonl': 'old', 'plants.jsonl.unfinished': 'of a killed process' } })
  const real = join(directory, 'real', 'plants.jsonl')
  const link = join(directory, 'link.jsonl')
  chmodSync(real, 0o644)
  symlinkSync(real, link)
  const left = await openAtomicFile(link)
  await left.write('half')
  await left.close()
  t.equal(readFileSync(real, 'utf8'), 'old')
  t.same(readdirSync(join(directory, 'real')), ['plants.jsonl'])
  const file = await openAtomicFile(link)
  await file.write('new')
  await file.finish()
  await file.close()
  t.equal(readFileSync(real, 'utf8'), 'new')
  t.equal(statSync(real).mode & 0o777, 0o644)
  t.ok(statSync(link).isFile())
})

t.test('of two processes that write one file, the first does not publish the work of the second', async (t) => {
  const path = join(t.testdir({}), 'plants.jsonl')
  const first = await openAtomicFile(path)
  const second = await openAtomicFile(path)
  await second.write('second')
  await t.rejects(first.finish(), { message: exactly(`another process is writing ${path}; name another file`) })
  await first.close()
  await second.finish()
  await second.close()
  t.equal(readFileSync(path, 'utf8'), 'second')
})

t.test('a path that is not a file, or has no directory, is rejected', async (t) => {
  const directory = t.testdir({ inner: {} })
  const inner = join(directory, 'inner')
  await t.rejects(openAtomicFile(inner), { message: exactly(`${inner} is not a file; name a file`) })
  rmSync(inner, { recursive: true })
  await t.rejects(openAtomicFile(join(inner, 'a')), {
    message: exactly(`${inner} does not exist; create that directory`),
  })
  mkdirSync(inner)
  writeFileSync(join(inner, 'a'), '')
  await (await openAtomicFile(join(inner, 'a'))).close()
  await t.rejects(openAtomicFile('/dev/null'), { message: /^\/dev\/null is not a file; name a file$/ })
})

t.test('a lock file in a missing directory is reported', async (t) => {
  t.throws(() => createLockFile(join(t.testdir({}), 'none', 'lock')), { code: 'ENOENT' })
})

t.test('a symbolic link at the path of a lock file is rejected, and its target is not created', async (t) => {
  const directory = t.testdir({})
  const [lock, target] = [join(directory, 'lock'), join(directory, 'target')]
  symlinkSync(target, lock)
  t.throws(() => createLockFile(lock), { code: 'ELOOP', message: exactly(`${lock} is a symbolic link; remove it`) })
  t.same(readdirSync(directory), ['lock'])
})
