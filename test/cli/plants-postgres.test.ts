import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { openStore } from '../../src/store/open.ts'
import { runPlants } from './run-plants.ts'

t.test('plants are imported to and exported from PostgreSQL beside a service', async (t) => {
  const url = await testDatabase(t)
  const directory = t.testdir({})
  const [from, to] = [join(directory, 'from.jsonl'), join(directory, 'to.jsonl')]
  const ids = [-(2n ** 63n), ...Array.from({ length: 3_000 }, (_, id) => BigInt(id)), 2n ** 63n - 1n]
  const lines = ids.map((id) => `{"id":${id},"name":"ä ${id}"${id % 2n === 0n ? '' : ',"tag":""'}}\n`)
  writeFileSync(from, lines.toReversed().join(''))
  const service = await openStore(url)
  await service.create({ id: 0n, name: 'ä 0' })

  const summary = 'new: 3001, identical: 1, in conflict: 0, invalid lines: 0\n'
  t.same(await runPlants(url, ['import', from]), { code: 0, stdout: summary, stderr: '' })
  t.equal((await runPlants(url, ['export'])).stdout, lines.join(''))
  t.same(await runPlants(url, ['export', to]), { code: 0, stdout: `3002 plants are in ${to}\n`, stderr: '' })
  await service.close()

  const missing = new URL(url)
  missing.port = '1'
  missing.password = 'secret'
  await t.rejects(runPlants(missing.href, ['export']), {
    message: /^STORE_URL is "postgres[^"]+:\*\*\*@[^"]+": no server can be used: [^\n]+$/,
  })
})
