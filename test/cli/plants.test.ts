import { join } from 'node:path'
import t from 'tap'
import { plantsHelp } from '../../src/cli/plants.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { exactly, usageError } from '../support/exact-pattern.ts'
import { runPlants } from './run-plants.ts'

requireSqlite(t)

t.test('help is printed for the command and its subcommands', async (t) => {
  const printed = { code: 0, stdout: plantsHelp, stderr: '' }
  for (const words of [['--help'], ['-h'], ['export', '--help'], ['import', 'FILE', '-h']]) {
    t.same(await runPlants('memory:', words), printed)
  }
  t.same(await runPlants('memory:', []), { code: 2, stdout: '', stderr: plantsHelp }, 'a missing command')
})

t.test('wrong arguments are rejected before the store is opened', async (t) => {
  await t.rejects(runPlants('memory:', ['list']), usageError('plants: unknown command; expected export or import'))
  await t.rejects(runPlants('memory:', ['toString']), usageError('plants: unknown command; expected export or import'))
  await t.rejects(runPlants('memory:', ['export', 'a', 'b']), {
    name: 'UsageError',
    message: /^more than one argument/,
  })
  await t.rejects(runPlants('nothing', ['export']), /^STORE_URL is "nothing"/)
})

t.test('a store that only its service can open is rejected', async (t) => {
  for (const url of ['memory:', 'module:./my-store.js']) {
    const message = exactly(
      `STORE_URL is "${url}": only the service can open this store; expected sqlite:PATH, postgres://… or cassandra://…`,
    )
    for (const words of [['export'], ['import']]) await t.rejects(runPlants(url, words), { message })
  }
})

t.test('a file without plants is rejected', async (t) => {
  const directory = t.testdir({ 'text.db': 'x'.repeat(4_096), 'empty.db': '' })
  const refusals = {
    'none.db': 'it does not exist',
    'text.db': 'it is not a SQLite database; check the path, or restore a backup',
    'empty.db': 'it has no table of plants',
  }
  for (const [name, reason] of Object.entries(refusals)) {
    const url = `sqlite:${join(directory, name)}`
    await t.rejects(runPlants(url, ['export']), { message: exactly(`STORE_URL is "${url}": ${reason}`) })
  }
})
