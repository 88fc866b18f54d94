import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import { chooseDialect, portableDialect } from '../../src/store/postgres/postgres-dialects.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { runPlants } from '../cli/run-plants.ts'
import { requestPlant } from '../faults/plant-request.ts'
import { token } from '../scenarios/built-service.ts'
import { raceCreates } from '../store/create-race.ts'
import { querySuite } from '../store/query-suite.ts'
import { startService } from '../support/service-process.ts'
import { startSpanner } from './spanner.ts'
import { spannerPrograms } from './spanner-programs.ts'

const programs = spannerPrograms()
const skip = typeof programs === 'string' && `NOT RUN: ${programs}`

t.test("Spanner's emulator behind PGAdapter", { skip, timeout: 3_600_000 }, async (t) => {
  const database = await startSpanner(t, programs as Exclude<typeof programs, string>)
  let databases = 0
  const empty = () => database(`plants_${++databases}`)

  for (const [name, run] of Object.entries(conformance)) {
    t.test(name, async (t) => {
      const url = empty()
      await t.resolves(run(() => openStore(url), true))
    })
  }

  for (const [name, run] of Object.entries(querySuite)) {
    t.test(name, async (t) => {
      const store = await openPostgres(empty())
      t.teardown(() => store.close())
      await run(store)
    })
  }

  t.test('the server gets the portable dialect', async (t) => {
    const chosen: unknown[] = []
    const store = await openPostgres(empty(), async (query) => {
      const dialect = await chooseDialect(query)
      chosen.push(dialect)
      return dialect
    })
    t.teardown(() => store.close())
    t.same(chosen, [portableDialect])
    t.equal(chosen[0], portableDialect)
  })

  t.test('a probe leaves no plant', async (t) => {
    const url = empty()
    const store = await openPostgres(url)
    t.teardown(() => store.close())
    for (let probes = 0; probes < 3; probes++) await store.ready()
    t.same(await store.list(-(2n ** 63n), 10), [])
  })

  t.test('three racing stores have one winner per id and create the table once', async (t) => {
    const url = empty()
    const stores = await Promise.all([1, 2, 3].map(() => openPostgres(url)))
    t.teardown(() => Promise.all(stores.map((store) => store.close())))
    const ids = 901
    const outcomes = await raceCreates(stores, ids)
    t.equal(outcomes.size, ids)
    for (const each of outcomes.values()) each.sort()
    t.same(new Set([...outcomes.values()].map(String)), new Set(['conflict,conflict,created']))
    t.equal((await stores[0]?.list(0n, 10_000))?.length, ids)
  })

  t.test('of three racing instances one gets 200 for each id', async (t) => {
    const url = empty()
    const environment = { STORE_URL: url, ACCESS_TOKENS: token, ACCESS_LOG: 'off' }
    const services = await Promise.all([1, 2, 3].map(() => startService(t, environment)))
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    t.teardown(() => agent.destroy())
    const winners = new Map<bigint, string[]>()
    /** Sends a write and retries it on 503, as a client may. */
    const create = async (port: number, id: bigint, name: string) => {
      for (;;) {
        const { status, flaw } = await requestPlant({ id, name }, { port, agent, timeout: 180_000 })
        t.equal(flaw, undefined)
        if (status === 503) continue
        t.ok(status === 200 || status === 409, `${status}`)
        if (status === 200) winners.set(id, [...(winners.get(id) ?? []), name])
        return
      }
    }
    const ids = Array.from({ length: 300 }, (_, id) => BigInt(id))
    await Promise.all(
      services.flatMap(({ port }, instance) => ids.map((id) => create(port, id, `of instance ${instance}`))),
    )
    const store = await openPostgres(url)
    t.teardown(() => store.close())
    const rows = await store.list(0n, 1_000)
    t.equal(rows.length, ids.length)
    for (const { id, name } of rows) t.same(winners.get(id), [name], `plant ${id}`)
    for (const service of services) t.equal((await service.stop()).code, 0)
  })

  t.test('plants are imported and exported', async (t) => {
    const url = empty()
    const directory = t.testdir({})
    const from = join(directory, 'from.jsonl')
    const lines = Array.from({ length: 700 }, (_, id) => `{"id":${id},"name":"ä ${id}"${id % 2 ? ',"tag":""' : ''}}\n`)
    writeFileSync(from, lines.toReversed().join(''))
    const summary = 'new: 700, identical: 0, in conflict: 0, invalid lines: 0\n'
    t.same(await runPlants(url, ['import', from]), { code: 0, stdout: summary, stderr: '' })
    t.equal((await runPlants(url, ['export'])).stdout, lines.join(''))
  })
})
