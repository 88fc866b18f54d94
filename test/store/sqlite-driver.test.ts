import { join } from 'node:path'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import t from 'tap'
import { codeOf, loadDriver, lockFile, transaction } from '../../src/store/sqlite/sqlite-driver.ts'
import { openFile, requireSqlite } from '../support/sqlite.ts'

requireSqlite(t)

const failing = (details: object) => () => {
  throw Object.assign(new Error('first line\nsecond line'), details)
}

t.test('node:sqlite is loaded where it prints no warning, and otherwise the optional package', async (t) => {
  const own = {}
  const asked: string[] = []
  t.capture(process, 'getBuiltinModule', (name) => {
    asked.push(name)
    return own
  })
  const loaded: string[] = []
  const load = (name: string) => loaded.push(name)
  for (const version of ['24.15.0', '24.21.0', '25.7.0', '26.0.0', '100.0.0']) t.equal(loadDriver(load, version), own)
  t.same([asked, loaded], [Array(5).fill('node:sqlite'), []])
  for (const version of ['20.19.0', '22.23.3', '23.11.1', '24.0.0', '24.14.9', '25.6.1']) loadDriver(load, version)
  t.same([asked.length, loaded], [5, Array(6).fill('@photostructure/sqlite')])
})

t.test('a Node that was built without SQLite loads the optional package', async (t) => {
  t.capture(process, 'getBuiltinModule', () => undefined)
  t.equal(
    loadDriver((name) => name, '24.15.0'),
    '@photostructure/sqlite',
  )
})

t.test('an unusable driver is reported in one line with a fix', async (t) => {
  const either = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
  const platform = `${process.platform}-${process.arch}`
  for (const [code, reason, fix] of [
    ['MODULE_NOT_FOUND', 'is not installed', 'run Node 24.15 or later, install with the optional packages'],
    ['ERR_DLOPEN_FAILED', `has no usable binary for ${platform}`, 'run Node 24.15 or later'],
    [undefined, `has no usable binary for ${platform}`, 'run Node 24.15 or later'],
  ]) {
    const message = `SQLite is missing, because the package @photostructure/sqlite ${reason}; ${fix}, ${either}`
    t.throws(() => loadDriver(failing({ code }), '20.19.0'), { name: 'Error', message: exactly(message) })
  }
})

t.test('errors have the names of their result codes', async (t) => {
  const database = openFile(':memory:')
  const failure = (sql: string): unknown => {
    try {
      database.exec(sql)
    } catch (error) {
      return error
    }
  }
  t.equal(codeOf(failure('SELECT * FROM plants')), 'SQLITE_ERROR')
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY); INSERT INTO plants VALUES (1)')
  t.equal(codeOf(failure('INSERT INTO plants VALUES (1)')), 'SQLITE_CONSTRAINT_PRIMARYKEY')
  t.equal(
    codeOf(failure("INSERT INTO plants VALUES ('a')")),
    'SQLITE_20',
    'a code that the service does not distinguish',
  )
  database.close()
  for (const [errcode, name] of [
    [5, 'BUSY'],
    [5 | (1 << 8), 'BUSY'],
    [10 | (3 << 8), 'IOERR_WRITE'],
    [10 | (4 << 8), 'IOERR'],
    [10 | (8 << 8), 'IOERR_UNLOCK'],
    [10 | (9 << 8), 'IOERR_RDLOCK'],
    [10 | (14 << 8), 'IOERR_CHECKRESERVEDLOCK'],
    [10 | (15 << 8), 'IOERR_LOCK'],
    [10 | (18 << 8), 'IOERR_SHMOPEN'],
    [10 | (19 << 8), 'IOERR_SHMSIZE'],
    [10 | (20 << 8), 'IOERR_SHMLOCK'],
    [10 | (21 << 8), 'IOERR_SHMMAP'],
    [11 | (1 << 8), 'CORRUPT'],
    [13, 'FULL'],
    [26, 'NOTADB'],
  ] as const)
    t.equal(codeOf({ code: 'ERR_SQLITE_ERROR', errcode }), `SQLITE_${name}`)
  t.equal(codeOf({ code: 'EACCES' }), 'EACCES')
  t.equal(codeOf(new Error('none')), '')
})

t.test('a transaction is rolled back after an error, also after one that SQLite has rolled back', async (t) => {
  const database = openFile(':memory:')
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY); INSERT INTO plants VALUES (1)')
  for (const conflict of ['ABORT', 'ROLLBACK']) {
    const insert = transaction(database, 'IMMEDIATE', function insert() {
      database.exec('INSERT INTO plants VALUES (2)')
      database.exec(`INSERT OR ${conflict} INTO plants VALUES (1)`)
    })
    t.throws(insert, /UNIQUE constraint failed/, conflict)
    t.equal(database.isTransaction, false)
    t.equal(database.prepare('SELECT count(*) AS plants FROM plants').get().plants, 1)
  }
  database.close()
})

t.test('a file is locked until its lock is released', async (t) => {
  const path = join(t.testdir({}), 'a-lock')
  const busy = { message: 'database is locked', errcode: 5 }
  const release = lockFile(path, 0)
  t.throws(() => lockFile(path, 0), busy)
  release()
  const other = openFile(path)
  other.exec('BEGIN IMMEDIATE')
  t.throws(() => lockFile(path, 0), busy, 'another connection writes')
  other.exec('ROLLBACK')
  lockFile(path, 0)()
})
