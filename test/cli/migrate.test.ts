import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { migrateCommand, migrateHelp, migrationSummary } from '../../src/cli/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { sqliteSkipReason } from '../support/better-sqlite.ts'
import { exactly, usageError } from '../support/exact-pattern.ts'

const migrate = (STORE_URL: string, ...words: string[]) => migrateCommand(words, { STORE_URL }, new PassThrough())

t.test('a PostgreSQL database of this release is created without pending steps', async (t) => {
  const url = await testDatabase(t)
  for (const words of ['expand', 'expand', 'contract']) {
    t.equal(await migrate(url, words), 'schema version 1; 0 plants filled in\n')
  }
  const store = await openStore(url)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
})

t.test('a SQLite file of this release is created without pending steps', { skip: sqliteSkipReason }, async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  for (const words of ['expand', 'contract']) {
    t.equal(await migrate(url, words), 'schema version 2; 0 plants filled in\n')
  }
})

t.test('the output names the remaining contraction', async (t) => {
  const left = [{ version: 4, sql: '', oldest: 3 }]
  t.equal(
    migrationSummary({ version: 3, filled: 7, left }),
    'schema version 3; 7 plants filled in; left to contract: version 4\n',
  )
})

t.test('a store without tables and wrong arguments are rejected, and help is printed', async (t) => {
  await t.rejects(migrate('memory:', 'expand'), {
    message: exactly(
      'STORE_URL is "memory:": the commands cannot open this kind of store, allowed: sqlite:PATH or postgres://…',
    ),
  })
  for (const words of [[], ['back']]) {
    await t.rejects(migrate('memory:', ...words), usageError('migrate: unknown command, allowed: expand, contract'))
  }
  t.equal(await migrate('memory:', '--help'), migrateHelp)
})
