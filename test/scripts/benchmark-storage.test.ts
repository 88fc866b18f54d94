import t from 'tap'
import { requireSqlite } from '../support/better-sqlite.ts'
import { run } from '../support/child-process.ts'
import { copyProject } from '../support/project-copy.ts'

requireSqlite(t)

t.test('the command measures rows, log and rate of both stores, with sequential and with random ids', async (t) => {
  // The command bundles the store into dist, which other tests may use.
  const directory = copyProject(t)
  const args = ['--plants=2000,4000', '--rounds=1', `--directory=${directory}`]
  const { code, stdout } = await run(t, 'scripts/benchmark-storage.ts', {}, args, directory).ended
  t.equal(code, 0)
  const rows = stdout.split('\n').map((line) => line.split(/\s+/))
  for (const store of ['sqlite', 'postgres']) {
    for (const plants of ['2000', '4000']) {
      const [sequential = [], random = []] = rows.filter(([name, , size]) => name === store && size === plants)
      t.same([sequential[1], random[1]], ['sequential', 'random'])
      for (const row of [sequential, random]) {
        const [bytes, , together, lone, rate] = row.slice(3).map(Number) as [number, number, number, number, number]
        // The text of a plant has 24 bytes.
        t.ok(bytes > 24 && bytes < 400, `${bytes} bytes a row`)
        t.ok(together > 24 && lone > 24, `${together} and ${lone} bytes of log`)
        // A commit of SQLite writes each page that it changes.
        if (store === 'sqlite') t.ok(lone > 4_096, `${lone} bytes of log`)
        t.ok(rate > 0)
      }
      t.match(sequential[4], store === 'sqlite' ? /^-$/ : /^\d{3}$/)
      t.equal(sequential[8], '1.00')
      if (store === 'sqlite') t.ok(Number(random[5]) > Number(sequential[5]), 'random ids change more pages')
    }
  }
})
