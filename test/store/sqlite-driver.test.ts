import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import t from 'tap'
import { loadDriver, openSqliteFile } from '../../src/store/sqlite/sqlite-driver.ts'

const isInstalled = (() => {
  try {
    return createRequire(import.meta.url).resolve('better-sqlite3') !== ''
  } catch {
    return false
  }
})()

const failing = (details: object) => () => {
  throw Object.assign(new Error('first line\nsecond line'), details)
}

t.test('an unusable driver is reported in one line with a fix', async (t) => {
  const either = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
  for (const details of [{ tries: ['/build'] }, { code: 'ERR_DLOPEN_FAILED' }]) {
    const message = `SQLite is missing, because better-sqlite3 has no binary for this Node; run npm rebuild better-sqlite3, ${either}`
    t.throws(() => openSqliteFile(':memory:', {}, failing(details)), { name: 'Error', message: exactly(message) })
  }
  const reason = 'because the optional package better-sqlite3 is not installed'
  const message = `SQLite is missing, ${reason}; install again on a machine with a C++ compiler, make and Python, ${either}`
  t.throws(() => openSqliteFile(':memory:', {}, failing({ code: 'MODULE_NOT_FOUND' })), { message: exactly(message) })
})

t.test('a binary that would abort the process is rejected before it is loaded', async (t) => {
  const directory = t.testdir({})
  const release = join(directory, 'build', 'Release')
  mkdirSync(release, { recursive: true })
  writeFileSync(join(release, 'better_sqlite3.node'), '\0_ZN4node28RemoveEnvironmentCleanupHookEPN2v8\0')
  t.throws(() => openSqliteFile(':memory:', {}, () => loadDriver(() => join(directory, 'lib', 'index.js'))), {
    name: 'Error',
    message: exactly(
      'SQLite is missing, because better-sqlite3 was compiled with Node 24.19 or later, and would abort the process; run npm rebuild better-sqlite3 with Node 22 or with Node 24.18, or set STORE_URL to memory: or postgres://USER@HOST/DATABASE',
    ),
  })
})

t.test('a binary in another place is loaded without the check', { skip: !isInstalled }, async (t) => {
  t.type(
    loadDriver(() => join(t.testdir({}), 'lib', 'index.js')),
    'function',
  )
})

t.test('other failures are passed on', async (t) => {
  t.throws(() => openSqliteFile(':memory:', {}, failing({ code: 'SQLITE_CANTOPEN' })), { code: 'SQLITE_CANTOPEN' })
})
