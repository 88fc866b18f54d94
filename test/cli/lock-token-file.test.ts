import { join } from 'node:path'
import t from 'tap'
import { lockTokenFile } from '../../src/cli/lock-token-file.ts'
import { NoSqlite } from '../../src/store/sqlite/sqlite-driver.ts'

const withoutSqlite = async () => ({
  lockFile(): never {
    throw new NoSqlite('it is not installed', 'install it', undefined)
  },
  NoSqlite,
})

t.test('without SQLite a file is locked by flock', async (t) => {
  const path = join(t.testdir({ 'tokens.json-lock': '' }), 'tokens.json-lock')
  const unlock = await lockTokenFile(path, 1_000, withoutSqlite)
  t.equal(await lockTokenFile(path, 200, withoutSqlite), undefined, 'it is locked')
  unlock?.()
  const again = await lockTokenFile(path, 5_000, withoutSqlite)
  t.type(again, 'function')
  again?.()
})

t.test('a file that SQLite cannot lock is not locked', async (t) => {
  const failing = async () => ({
    lockFile(): never {
      throw new Error('busy')
    },
    NoSqlite,
  })
  t.equal(await lockTokenFile(join(t.testdir({}), 'tokens.json-lock'), 50, failing), undefined)
})
