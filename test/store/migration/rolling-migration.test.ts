import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { query } from '../../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../../scripts/postgres/test-database.ts'
import { until } from '../../../scripts/system/poll.ts'
import { Database, sqliteSkipReason } from '../../support/better-sqlite.ts'
import { type End, type RunningProcess, spawnProcess } from '../../support/child-process.ts'
import { exactly } from '../../support/exact-pattern.ts'
import { type ServiceProcess, spawnService } from '../../support/service-process.ts'
import { buildReleases, type Release } from './next-release.ts'
import { Creates } from './steady-load.ts'

const { old, next } = await buildReleases(t)

/** A running service of a release; `end` stops it and checks that it ends without errors. */
type Instance = { service: ServiceProcess; end(): Promise<void> }

function releaseOn(t: Test, { server, plantStore }: Release, STORE_URL: string, creates: Creates) {
  const run = (...words: string[]): RunningProcess => {
    const command = spawnProcess([...plantStore, ...words], { env: { STORE_URL } })
    t.teardown(() => command.signal('SIGKILL'))
    return command
  }
  return {
    run,
    /** Starts a service and a load on it; resolves after 20 creates. */
    async start(WORKERS = '1'): Promise<Instance> {
      const starting = spawnService({ STORE_URL, WORKERS, ACCESS_LOG: 'off' }, { command: server })
      t.teardown(() => starting.signal('SIGKILL'))
      const service = await starting.serving()
      const load = creates.send(service)
      await creates.more(20)
      return {
        service,
        async end() {
          await load.stop()
          const { code, stderr } = await service.stop()
          t.same([code, stderr], [0, service.banner])
        },
      }
    },
    /** Starts a service that is expected to reject the database and exit. */
    refused: (): Promise<End> => spawnService({ STORE_URL }, { command: server }).untilEnded(),
  }
}

/** Compares the rows of the database with the acknowledged creates. */
function compare(t: Test, creates: Creates, rows: { id: string; name: string; note: string | null }[]): void {
  t.same([...new Set(creates.failures)], [], 'no create failed')
  const kept = new Map(rows.map((row) => [BigInt(row.id), row]))
  const lost = [...creates.acknowledged].filter(([id, name]) => kept.get(id)?.name !== name)
  t.same(lost, [], `none of ${creates.acknowledged.size} plants was lost`)
  t.same(
    rows.filter(({ name, note }) => note !== name.toUpperCase()),
    [],
    'each row has a note',
  )
}

t.test('instances of two releases use one PostgreSQL database through an expansion and a contraction', async (t) => {
  const url = await testDatabase(t)
  const creates = new Creates()
  const [before, after] = [releaseOn(t, old, url, creates), releaseOn(t, next, url, creates)]
  const first = [await before.start(), await before.start('2')]
  // Enough rows for the backfill to take seconds.
  await query(url, "INSERT INTO plants SELECT -id, 'early' FROM generate_series(1, 40000) AS id")
  const second = await Promise.all([after.start(), after.start('2')])

  const isFilling = async () => (await query(url, "SELECT FROM plants WHERE note = 'EARLY' LIMIT 1")).length > 0
  const interrupted = after.run('migrate', 'expand')
  await until(isFilling, 'the backfill to begin')
  t.match(await interrupted.stop('SIGKILL'), { stdout: '', signal: 'SIGKILL' })
  const expanded = await after.run('migrate', 'expand').untilEnded()
  t.match(expanded, { code: 0, stdout: /^schema version 2; \d+ plants filled in; left to contract: version 3, 4\n$/ })

  // Roll back to the older release, then forward again.
  for (const instance of second) await instance.end()
  const again = await before.start()
  const third = [await after.start(), await after.start()]
  for (const instance of [...first, again]) await instance.end()

  const contracted = await after.run('migrate', 'contract').untilEnded()
  t.match(contracted, { code: 0, stdout: /^schema version 4; \d+ plants filled in\n$/ })
  await creates.more(100)
  const { code, stderr } = await before.refused()
  const newer = 'it has schema version 2, newer than version 1 of this service; run the newer service'
  t.equal(code, 1)
  t.match(stderr, exactly(`plant-store: STORE_URL is "${url}": ${newer}\n`))
  for (const instance of third) await instance.end()
  compare(t, creates, (await query(url, 'SELECT id, name, note FROM plants')) as Parameters<typeof compare>[2])
})

t.test('two releases use one SQLite file at once', { skip: sqliteSkipReason }, async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const url = `sqlite:${path}`
  const creates = new Creates()
  const [before, after] = [releaseOn(t, old, url, creates), releaseOn(t, next, url, creates)]
  const lines = join(directory, 'plants.jsonl')
  /** Imports plants with another release while the service runs. */
  async function importBy(release: typeof before, from: number): Promise<void> {
    const plants = Array.from({ length: 2_000 }, (_, n) => ({ id: -from - n, name: `imported ${n}` }))
    writeFileSync(lines, plants.map((plant) => `${JSON.stringify(plant)}\n`).join(''))
    t.match(await release.run('plants', 'import', lines).untilEnded(), { code: 0, stderr: '' })
    for (const { id, name } of plants) creates.acknowledged.set(BigInt(id), name)
  }

  const first = await before.start()
  await importBy(after, 1)
  await creates.more(20)
  t.match(await after.run('migrate', 'expand').untilEnded(), { code: 0, stdout: /^schema version 3; \d+ plants / })
  await first.end()
  const second = await after.start()
  await importBy(before, 10_001)
  await second.end()
  const again = await before.start()
  await again.end()

  const third = await after.start()
  const contracted = await after.run('migrate', 'contract').untilEnded()
  t.match(contracted, { code: 0, stdout: /^schema version 4; \d+ plants filled in\n$/ })
  await creates.more(20)
  await third.end()
  const { code, stderr } = await before.refused()
  t.equal(code, 1)
  t.match(stderr, /: it has schema version 3, newer than version 2 of this service; run the newer service\n$/)
  t.notOk(existsSync(`${path}-wal`))
  const database = new Database(path, { readonly: true })
  compare(t, creates, database.prepare('SELECT id, name, note FROM plants').all() as Parameters<typeof compare>[2])
  database.close()
})
