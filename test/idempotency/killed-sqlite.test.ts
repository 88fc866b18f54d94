import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { randomOf } from '../faults/seeded-random.ts'
import { Instance } from './keyed-process.ts'
import { createWithKills } from './killed-instances.ts'
import { createOrders, type KillPoint, openSqlite, orderIds } from './orders.ts'

/** Returns the URL of a new file. */
function newFile(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'killed-sqlite-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  return `sqlite:${join(directory, 'orders.db')}`
}

/** Returns the responses of the keys as text, and tests that the file and its sizes are consistent. */
function keptResponses(t: Test, url: string): (string | undefined)[] {
  const database = openSqlite(url)
  const get = (sql: string) => ({ ...(database.prepare(sql).get() as object) })
  t.same(get('PRAGMA integrity_check'), { integrity_check: 'ok' })
  const counted = 'SELECT count(*) AS keys, coalesce(sum(length(response)), 0) AS bytes FROM idempotency_keys'
  t.same(get('SELECT keys, bytes FROM idempotency_keys_size'), get(counted))
  const rows = database.prepare('SELECT response FROM idempotency_keys').all() as { response: Uint8Array | null }[]
  database.close()
  return rows.map(({ response }) => (response === null ? undefined : Buffer.from(response).toString()))
}

const whole = /^\{"status":201,.*\}\n\{"id":\d+,"reference":"order-\d+"\}$/

t.test('two instances over one SQLite file that are killed lose no order, and keep whole responses', async (t) => {
  const url = newFile(t)
  const { twice, lost, wrong, kills, replays } = await createWithKills({
    ...{ url, creates: 300, isTransactional: false, random: randomOf(1), pause: 300 },
  })
  t.same({ lost, wrong }, { lost: 0, wrong: [] })
  t.ok(kills > 0, 'instances were killed')
  t.ok(replays > 0, 'responses were replayed')
  const kept = keptResponses(t, url)
  t.equal(kept.length, 300)
  t.same(
    kept.filter((text) => !whole.test(String(text))),
    [],
  )
  t.comment({ kills, replays, twice })
})

/** What is kept at a kill, and what the first 201 after it is. */
const outcomes: Record<KillPoint, { orders: number; isKept: boolean }> = {
  'before the write': { orders: 1, isKept: false },
  'after the write': { orders: 2, isKept: false },
  'while the response is stored': { orders: 2, isKept: false },
  'after it is stored': { orders: 1, isKept: true },
}

for (const [killAt, expected] of Object.entries(outcomes) as [KillPoint, (typeof outcomes)[KillPoint]][])
  t.test(`with keys in SQLite, a process is killed ${killAt}`, async (t) => {
    const url = newFile(t)
    await createOrders(url)
    const instance = await Instance.create({ url, lease: 1_500, isTransactional: false, killAt })
    t.teardown(() => instance.kill())
    await instance.listens()
    const ended = instance.ends()
    await t.rejects(create(instance), { message: 'fetch failed' })
    t.equal(await ended, 'SIGKILL')
    const [response] = keptResponses(t, url)
    t.match(response, expected.isKept ? whole : undefined, 'the response is kept whole or not at all')
    instance.start({ killAt: undefined as never })
    await instance.listens()
    const answers = [await create(instance)]
    while (answers.at(-1)?.status === 409) {
      await sleep(50)
      answers.push(await create(instance))
    }
    const last = answers.at(-1)
    t.equal(last?.status, 201)
    t.equal(last?.isReplay, expected.isKept)
    const ids = (await orderIds(url)).get('order-1')
    t.equal(ids?.length, expected.orders)
    t.equal(ids?.at(-1), last?.id, 'the response is that of the last write')
  })

async function create({ port }: Instance) {
  const response = await fetch(`http://127.0.0.1:${port}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    body: '{"reference":"order-1"}',
  })
  const { id } = (await response.json()) as { id?: number }
  return { status: response.status, isReplay: response.headers.get('idempotent-replayed') === 'true', id: String(id) }
}
