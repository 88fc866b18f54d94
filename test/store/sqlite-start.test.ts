import { spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeCommand, spawnProcess } from 'fastify-contract-test-support/child-process'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import t, { type Test } from 'tap'
import { restore } from '../../src/cli/sqlite-commands.ts'
import { openForReading, openStore } from '../../src/store/open.ts'
import { plantBatch } from '../../src/store/sqlite/sqlite-batch.ts'
import { makeDurable, openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { hasLocks, openError } from '../../src/store/sqlite/sqlite-driver.ts'
import { assertOwnDatabase } from '../../src/store/sqlite/sqlite-schema.ts'
import { runTool } from '../deploy/run-tool.ts'
import { idsOf } from '../faults/generated-plants.ts'
import { changesOf, writeImage } from '../faults/power-loss/disk-image.ts'
import { record, storeFile } from '../faults/power-loss/record-writes.ts'
import type { Call } from '../faults/power-loss/strace-log.ts'
import { randomOf } from '../faults/seeded-random.ts'
import { inspect } from '../faults/sqlite-file.ts'
import { builtCode } from '../support/service-code.ts'
import { spawnService } from '../support/service-process.ts'
import { openFile, pragma, requireSqlite } from '../support/sqlite.ts'

requireSqlite(t)

const applicationId = 0x706c6e74

const noLocks = 'its file system does not support file locks, as is common for network mounts; use a local disk'

/** Opens a database. Rejects if openDatabase throws. */
const open = async (path: string) => openDatabase(path)

/** Creates plants.db in a directory with SQL statements; returns its path. */
function fileOf(directory: string, sql: string): string {
  const path = join(directory, 'plants.db')
  const database = openFile(path)
  database.exec(sql)
  database.close()
  return path
}

t.test('a file of a newer schema is rejected and unchanged, in every journal mode', async (t) => {
  for (const mode of ['DELETE', 'WAL']) {
    const schema = `CREATE TABLE plants (id); PRAGMA application_id = ${applicationId}; PRAGMA user_version = 99`
    const path = fileOf(t.testdir({}), `PRAGMA journal_mode = ${mode}; ${schema}`)
    const before = readFileSync(path)
    await t.rejects(open(path), {
      message: exactly('it has schema version 99, and this release supports up to 2; upgrade the service'),
    })
    t.same(readdirSync(dirname(path)), ['plants.db'])
    t.ok(readFileSync(path).equals(before))
  }
})

t.test('the journal of a file of a newer schema is unchanged', async (t) => {
  const directory = t.testdir({ killed: {} })
  const from = fileOf(
    directory,
    `PRAGMA journal_mode = WAL; PRAGMA application_id = ${applicationId}; PRAGMA user_version = 99`,
  )
  const running = openFile(from)
  running.exec('CREATE TABLE plants (id)')
  const path = join(directory, 'killed', 'plants.db')
  for (const suffix of ['', '-wal']) copyFileSync(from + suffix, path + suffix)
  running.close()
  const before = [readFileSync(path), readFileSync(`${path}-wal`)]
  t.ok((before[1] as Buffer).length > 0)
  await t.rejects(open(path), /upgrade the service/)
  t.same([readFileSync(path), readFileSync(`${path}-wal`)], before)
})

t.test('a newer schema in the journal alone is rejected, and the journal is unchanged', async (t) => {
  const directory = t.testdir({ killed: {} })
  const mark = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`
  const path = fileOf(directory, `CREATE TABLE plants (id); ${mark}`)
  const newer = openFile(path)
  pragma(newer, 'journal_mode = WAL')
  pragma(newer, 'user_version = 3')
  // Until a checkpoint, the file's own header has the old version.
  const copy = join(directory, 'killed', 'plants.db')
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix)
  newer.close()
  t.equal(readFileSync(copy).readUInt32BE(60), 2)
  const before = [readFileSync(copy), readFileSync(`${copy}-wal`)]
  await t.rejects(open(copy), /schema version 3, and this release supports up to 2/)
  t.same([readFileSync(copy), readFileSync(`${copy}-wal`)], before)
})

t.test('a path that is a directory, or below a file, is rejected', async (t) => {
  const directory = t.testdir({ file: '' })
  await t.rejects(open(directory), { message: exactly('it is a directory; name a file') })
  await t.rejects(open(join(directory, 'file', 'plants.db')), {
    message: exactly(`its directory ${directory}/file cannot be created (EEXIST); check the path and its owner`),
  })
  await t.rejects(open(join(directory, 'file', 'a', 'b', 'plants.db')), {
    message: exactly(`its directory ${directory}/file/a/b cannot be created (ENOTDIR); check the path and its owner`),
  })
  symlinkSync('none', join(directory, 'dangling'))
  await t.rejects(open(join(directory, 'dangling', 'plants.db')), /dangling cannot be created \(EEXIST\)/)
  await open(join(directory, 'a', 'b', 'c', 'plants.db')).then((store) => store.close())
})

t.test('where no directory can be made, the start ends with one line, and so does a restore', async (t) => {
  for (const [path, code] of [
    ['/proc/plants/data/plants.db', 'ENOENT'],
    ['/dev/null/plants/plants.db', 'ENOTDIR'],
  ] as const) {
    const STORE_URL = `sqlite:${path}`
    const line = `STORE_URL is "${STORE_URL}": its directory ${dirname(path)} cannot be created (${code}); check the path and its owner`
    const service = spawnService({ STORE_URL })
    t.teardown(() => service.signal('SIGKILL'))
    t.hasStrict(await service.untilEnded(), { code: 1, stderr: `plant-store: ${line}\n` })
    const backup = fileOf(t.testdir({}), 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)')
    const marked = openFile(backup)
    marked.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`)
    marked.close()
    t.throws(() => restore(backup, { STORE_URL }), { message: line })
  }
})

t.test('only those who may write a lock file may read it', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const lock = `${path}-lock`
  const modeAfter = async () => {
    await open(path).then((store) => store.close())
    return (statSync(lock).mode & 0o777).toString(8)
  }
  chmodSync(directory, 0o755)
  t.equal(await modeAfter(), '600')
  for (const [given, right] of [
    [0o644, '600'],
    [0o664, '660'],
    [0o666, '666'],
    [0o640, '600'],
  ] as const) {
    chmodSync(lock, given)
    t.equal(await modeAfter(), right)
  }
  chmodSync(lock, 0o644)
  chmodSync(directory, 0o777)
  t.equal(await modeAfter(), '644', 'in a directory that others may write')
})

t.test('a file URI, parameters and :memory: are rejected and create no file', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  for (const name of [`file:${path}`, `file:${path}?mode=ro`, `${path}?mode=ro`, ':memory:'])
    await t.rejects(openStore(`sqlite:${name}`), /sqlite:PATH \(a path without "\?", no file: URI\)/)
  t.same(readdirSync(directory), [])
})

t.test('a dangling link leads to the new file and its lock', async (t) => {
  const directory = t.testdir({ data: {} })
  symlinkSync('data/plants.db', join(directory, 'link.db'))
  symlinkSync('link.db', join(directory, 'second.db'))
  const store = await open(`${directory}/second.db`)
  await t.rejects(open(`${directory}/data/plants.db`), { message: exactly('it is in use by another process') })
  store.close()
  t.same(readdirSync(join(directory, 'data')), ['plants.db', 'plants.db-lock'])
  symlinkSync('loop.db', join(directory, 'loop.db'))
  await t.rejects(open(`${directory}/loop.db`), /ELOOP/)
})

t.test('tables that differ from their version are reported without SQL', async (t) => {
  const mark = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`
  for (const [table, message] of [
    ['CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT)', 'table plants has no column named tag'],
    ['CREATE TABLE flowers (id INTEGER PRIMARY KEY)', 'no such table: plants'],
  ])
    await t.rejects(open(fileOf(t.testdir({}), `${table}; ${mark}`)), {
      message: exactly(`its tables do not match its schema version: ${message}; restore a backup`),
    })
})

t.test('a damaged file is reported with a fix', async (t) => {
  const path = fileOf(
    t.testdir({}),
    `CREATE TABLE plants (id); PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`,
  )
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xff, 100, 4_096))
  await t.rejects(open(path), /^database disk image is malformed; run plant-store check, or restore a backup$/)
})

t.test('an error other than that of a foreign file is reported unchanged', async (t) => {
  const database = openFile(join(t.testdir({}), 'plants.db'))
  database.close()
  t.throws(() => assertOwnDatabase(database), { message: 'database is not open' })
})

t.test('a store without durable commits is rejected', async (t) => {
  const database = openFile(':memory:')
  database.exec("ATTACH ':memory:' AS store")
  t.throws(() => makeDurable(database), /^its commits are not durable: journal mode memory; use another file system$/)
  database.close()
})

const failure = (code: string) => Object.assign(new Error('what SQLite says'), { code })

t.test("a failed lock is reported as a busy file, a file system without locks, or SQLite's message", async (t) => {
  const reason = (code: string, canLock: boolean) =>
    openError(failure(code), '/plants.db', { hasLocks: () => canLock, access: () => {} }).message
  t.equal(reason('SQLITE_BUSY', true), 'it is in use by another process')
  t.equal(reason('SQLITE_BUSY', false), noLocks)
  for (const code of ['SQLITE_PROTOCOL', 'SQLITE_IOERR_LOCK', 'SQLITE_IOERR_RDLOCK']) {
    t.equal(reason(code, true), 'what SQLite says')
    t.equal(reason(code, false), noLocks)
  }
  t.equal(reason('SQLITE_FULL', false), 'what SQLite says')

  const path = join(t.testdir({}), 'plants.db')
  t.equal(hasLocks(path), true)
  t.equal(hasLocks(join(path, 'none')), true, 'locks are assumed where the probe fails')
  const probe = openFile(`${path}-probe-${process.pid}`)
  probe.exec('BEGIN EXCLUSIVE')
  t.equal(hasLocks(path), false)
  probe.close()
  t.same(readdirSync(dirname(path)), [])
})

t.test('a read-only file is reported with its owner', async (t) => {
  const path = join(t.testdir({ 'plants.db': '', 'plants.db-wal': '' }), 'plants.db')
  chmodSync(`${path}-wal`, 0o640)
  const reason = (denied: string, denial: string) =>
    openError(failure('SQLITE_CANTOPEN'), path, {
      hasLocks: () => true,
      access: (file) => {
        if (file === denied) throw Object.assign(new Error(denial), { code: denial })
        accessSync(file)
      },
    }).message
  const { uid } = statSync(path)
  const owner = `(of user ${uid}, mode 640) is not writable by user ${process.getuid?.()}; change its owner or mode`
  t.equal(reason(`${path}-wal`, 'EACCES'), `${path}-wal ${owner}`)
  t.equal(reason(dirname(path), 'EROFS'), `${dirname(path)} is on a read-only file system; mount it writable`)
  t.equal(reason('', ''), 'what SQLite says')
  t.equal(openError(failure('SQLITE_CANTOPEN'), path).message, 'what SQLite says', 'this user may write every file')
})

/** Opens files one after the other in a process that `command` starts. Returns "opened" or the error for each. */
async function openBy(t: Test, command: string[], paths: string[], prepare = ''): Promise<string[]> {
  const script = join(mkdtempSync(join(t.testdirName, 'script-')), 'open.mjs')
  writeFileSync(
    script,
    `import { writeSync } from 'node:fs'
    import { openDatabase } from ${JSON.stringify(resolve('src/store/sqlite/sqlite-database.ts'))}
    ${prepare}
    for (const path of ${JSON.stringify(paths)}) {
      try {
        openDatabase(path).close()
        writeSync(1, 'opened\\n')
      } catch ({ message }) {
        writeSync(1, message + '\\n')
      }
    }
    // SIGKILL skips the coverage report, which another user could not write.
    process.kill(process.pid, 'SIGKILL')`,
  )
  const { stdout, stderr } = await spawnProcess([...command, ...nodeCommand(script)]).untilEnded()
  t.equal(stderr, '')
  return stdout.split('\n').slice(0, -1)
}

const hasStrace = (await runTool('strace', '--version'))?.code === 0

t.test('a file system without locks is reported', { skip: !hasStrace && 'NOT RUN: needs strace' }, async (t) => {
  const directory = t.testdir({ data: {} })
  const path = join(directory, 'data', 'plants.db')
  for (const errno of ['ENOLCK', 'EOPNOTSUPP']) {
    const options = `-D -qq -f --seccomp-bpf -o /dev/null -e trace=fcntl -e inject=fcntl:error=${errno}`
    // With -D, strace runs in the background and the traced process keeps the shell's process id.
    const traced = `exec strace ${options} -P '${path}-lock' -P '${path}-probe-'$$ "$@"`
    t.same(await openBy(t, ['sh', '-c', traced, 'sh'], [path]), [noLocks], errno)
  }
  t.same(readdirSync(dirname(path)), ['plants.db-lock'])
})

const isRoot = process.getuid?.() === 0

t.test(
  'a file of another user is reported with its owner',
  { skip: !isRoot && 'NOT RUN: as another user, which needs root' },
  async (t) => {
    t.testdir({})
    const user = 12_345
    // Other users may not be able to read this project's directory, so modules are loaded before the switch.
    const drop = `import { loadDriver, openSqliteFile } from ${JSON.stringify(resolve('src/store/sqlite/sqlite-driver.ts'))}
    loadDriver()
    process.setgroups([])
    process.setgid(${user})
    process.setuid(${user})`
    const root = mkdtempSync(join(tmpdir(), 'plant-store-'))
    t.teardown(() => rmSync(root, { recursive: true }))
    chmodSync(root, 0o755)
    /** Creates a store in which every user may write all files except one. */
    const storeBut = (suffix: string, mode: number): { path: string; message: string } => {
      const directory = mkdtempSync(join(root, 'store-'))
      const path = join(directory, 'plants.db')
      openDatabase(path).close()
      for (const journal of ['-wal', '-shm']) if (suffix === journal) writeFileSync(path + journal, '')
      for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o666)
      chmodSync(directory, 0o777)
      const denied = suffix === '/' ? directory : path + suffix
      chmodSync(denied, mode)
      const owner = `(of user 0, mode ${mode.toString(8)})`
      return { path, message: `${denied} ${owner} is not writable by user ${user}; change its owner or mode` }
    }
    const stores = [
      storeBut('', 0o600),
      storeBut('', 0o644),
      storeBut('-lock', 0o600),
      storeBut('-lock', 0o644),
      storeBut('-wal', 0o600),
      storeBut('-shm', 0o644),
      storeBut('/', 0o755),
      { ...storeBut('', 0o666), message: 'opened' },
    ]
    t.same(
      await openBy(
        t,
        [],
        stores.map(({ path }) => path),
        drop,
      ),
      stores.map(({ message }) => message),
    )
  },
)

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
    const readable = inspect(join(inside('copy'), storeFile), journal, { readOnly: false })
    t.equal(readable.lost, 0, 'the next process can read the plant')

    const calls = await create('killed')
    const lostAt = (cut: number, image: string) => {
      const changes = changesOf(calls, inside('killed'))
      writeImage({ changes, cut, random: forgetful, from: inside('killed'), to: inside(image) })
      return inspect(join(inside(image), storeFile), journal, { readOnly: false }).lost
    }
    t.equal(lostAt((killed.at(-1) as Call).end + 1, 'before'), 1, 'a power loss before the restart loses it')
    const retried = calls.find(({ name }) => name === 'acknowledge') as Call
    t.equal(lostAt(retried.start, 'after'), 0, 'a power loss after the response to the retry does not')
  },
)

t.test('one process at a time has a file open, and the next one sees its plants', async (t) => {
  const path = join(t.testdir({}), 'deep', 'plants.db')
  const service = openDatabase(path)
  t.throws(() => openDatabase(path), { message: /^it is in use by another process$/ })
  t.same(service.commit(plantBatch([{ id: 1n, name: 'a' }])), ['created'])
  service.close()
  const successor = openDatabase(path)
  t.same(successor.commit(plantBatch([{ id: 1n, name: 'a' }])), ['identical'])
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
