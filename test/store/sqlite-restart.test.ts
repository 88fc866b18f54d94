import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openForReading, openStore } from '../../src/store/open.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { idsOf } from '../faults/generated-plants.ts'
import { changesOf, writeImage } from '../faults/power-loss/disk-image.ts'
import { record, storeFile } from '../faults/power-loss/record-writes.ts'
import type { Call } from '../faults/power-loss/strace-log.ts'
import { randomOf } from '../faults/seeded-random.ts'
import { inspect } from '../faults/sqlite-file.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { exactly } from '../support/exact-pattern.ts'
import { builtCode } from '../support/service-code.ts'

requireSqlite(t)

const installed = spawnSync('strace', ['-V']).status === 0

/** A random source with which a disk image keeps only synced writes. */
const forgetful = { ...randomOf(1), below: () => 0 }

const load = { seed: 1, skip: 0, count: 1, clients: 1 }
const id = idsOf(randomOf(load.seed)).next().value as bigint
const journal = { sent: new Set([id]), acknowledged: new Set([id]) }

t.test(
  'a plant that a killed process committed without a sync is durable once a retry gets 200',
  { skip: !installed && 'NOT RUN: strace is not installed' },
  async (t) => {
    const parent = mkdtempSync(join(tmpdir(), 'plants-restart-'))
    t.teardown(() => rmSync(parent, { recursive: true }))
    const inside = (name: string) => join(parent, name)
    for (const name of ['whole', 'killed', 'before', 'after']) mkdirSync(inside(name))
    const build = dirname(fileURLToPath(builtCode.storeModule))
    const create = (name: string, killAtSync = 0) => record({ ...load, directory: inside(name), build, killAtSync })

    const whole = await create('whole')
    const written = whole.findIndex((call) => call.name === 'write' && call.data.includes(`plant ${id}`))
    t.match(whole[written], { path: /-wal$/ })
    // The first sync after this write is that of the plant's commit.
    const killed = await create('killed', 1 + whole.slice(0, written).filter(({ name }) => name === 'sync').length)
    t.notOk(killed.some(({ name }) => name === 'acknowledge'))
    cpSync(inside('killed'), inside('copy'), { recursive: true })
    const readable = inspect(join(inside('copy'), storeFile), journal, { readonly: false })
    t.equal(readable.lost, 0, 'the next process can read the plant')

    const calls = await create('killed')
    const lostAt = (cut: number, image: string) => {
      const changes = changesOf(calls, inside('killed'))
      writeImage({ changes, cut, random: forgetful, from: inside('killed'), to: inside(image) })
      return inspect(join(inside(image), storeFile), journal, { readonly: false }).lost
    }
    t.equal(lostAt((killed.at(-1) as Call).end + 1, 'before'), 1, 'a power loss before the restart loses it')
    const retried = calls.find(({ name }) => name === 'acknowledge') as Call
    t.equal(lostAt(retried.start, 'after'), 0, 'a power loss after the response to the retry does not')
  },
)

requireSqlite(t)

t.test('one process at a time has a file open, and the next one sees its plants', async (t) => {
  const path = join(t.testdir({}), 'deep', 'plants.db')
  const service = openDatabase(path)
  t.throws(() => openDatabase(path), { message: /^it is in use by another process$/ })
  t.same(service.commit([{ id: 1n, name: 'a' }]), ['created'])
  service.close()
  const successor = openDatabase(path)
  t.same(successor.commit([{ id: 1n, name: 'a' }]), ['identical'])
  successor.close()
  t.notOk(existsSync(`${path}-wal`))
})

t.test('a file with several hard links is rejected', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  openDatabase(path).close()
  linkSync(path, join(directory, 'other.db'))
  t.throws(() => openDatabase(path), { message: /^it has several hard links/ })
})

t.test('a store can be read beside its service', async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const service = await openStore(url)
  await service.create({ id: 1n, name: 'a' })
  const reader = await openForReading(url)
  t.same(await reader.list(1n, 10), [{ id: 1n, name: 'a' }])
  await reader.close()
  await service.close()
  for (const url of ['memory:', 'nothing']) {
    const message = exactly('only the service can read this store; expected sqlite:PATH or postgres://…')
    await t.rejects(openForReading(url), { message })
  }
})
