import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openStore } from '../../src/store/open.ts'
import { run } from '../support/process.ts'

t.test('a backup of a store in use is a consistent snapshot', async (t) => {
  const directory = t.testdir({})
  const STORE_URL = `sqlite:${join(directory, 'plants.db')}`
  const target = join(directory, 'copy.db')
  const store = await openStore(STORE_URL)
  const backup = (to: string[], environment = {}) =>
    run(t, 'scripts/backup.ts', { STORE_URL, ...environment }, to).ended
  let created = 0
  let ended = false
  const load = (async () => {
    while (!ended) await store.create({ id: BigInt(created++), name: 'a' })
  })()
  const { code, stdout } = await backup([target])
  ended = true
  await load
  await store.close()

  t.equal(code, 0)
  const copy = new Database(target, { readonly: true })
  const ids = copy.prepare('SELECT id FROM plants ORDER BY id').pluck().all()
  copy.close()
  t.equal(stdout, `${ids.length} plants are in ${target}\n`)
  t.ok(ids.length > 0 && ids.length <= created)
  t.same(ids, [...ids.keys()], 'one moment: no plant without those before it')
  t.notOk(existsSync(`${target}.unfinished`))
  const restored = await openStore(`sqlite:${target}`)
  t.equal(await restored.create({ id: 0n, name: 'a' }), 'identical')
  await restored.close()

  const refusals: [string[], object, RegExp][] = [
    [[target], {}, /^backup: .*copy\.db exists\n$/],
    [[], {}, /^backup: TARGET is missing, allowed: the path of a new file\n$/],
    [[join(directory, 'b.db')], { STORE_URL: 'memory:' }, /^backup: STORE_URL is no sqlite:PATH; .*\n$/],
    [
      [join(directory, 'b.db')],
      { STORE_URL: `sqlite:${directory}/none.db` },
      /^backup: unable to open database file\n$/,
    ],
  ]
  for (const [to, environment, message] of refusals) {
    const refused = await backup(to, environment)
    t.equal(refused.code, 1)
    t.match(refused.stderr, message)
  }
})
