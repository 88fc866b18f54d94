import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { httpRequest, sameOriginHeaders } from '../support/http-request.ts'
import { authorization } from '../support/test-app.ts'
import { startWorkers, storeWith } from '../support/worker-service.ts'

const figure = (text: string, name: string) =>
  Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])

const answered = 'http_server_request_duration_seconds_count{operation="createPlant",method="POST",status="200"}'

t.test('two workers share one port and one table and appear as one service', async (t) => {
  const STORE_URL = storeWith(t, '', await testDatabase(t))
  const { banner, create, pids, page, stop } = await startWorkers(t, { STORE_URL })
  t.match(banner, /^plant-store \S+ by 2 workers on http:\/\/127\.0\.0\.1:\d+, store module:\S+, management on \S+\n$/)
  t.equal((await pids()).length, 2, 'both take creates')
  const before = figure(await page('/metrics'), answered)
  const names = ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']
  const statuses = (await Promise.all(names.map((name) => create(1, name)))).map(([status]) => status)
  t.same(statuses.toSorted(), [200, 200, 200, 200, 409, 409, 409, 409], 'the same id through both is one plant')
  t.equal(await page('/readyz'), 'ready\n')
  const text = await page('/metrics')
  t.equal(figure(text, answered), before + 4, 'what both have answered')
  t.equal(text.match(/^plant_store_build_info/gm)?.length, 1)
  t.match(text, /^plant_store_build_info\{[^}]*\} 1$/m)
  t.equal(figure(text, 'plant_store_ready'), 1)
  t.ok(figure(text, 'process_start_time_seconds') < Date.now() / 1_000)
  t.ok(figure(text, 'nodejs_eventloop_delay_max_seconds') < 60)
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })
})

t.test('requests forwarded by the admin server reach the shared port', async (t) => {
  const { managementUrl } = await startWorkers(t, { STORE_URL: storeWith(t) })
  const headers = { ...sameOriginHeaders, 'try-authorization': authorization, 'try-content-type': 'application/json' }
  const body = '{"id":9223372036854775807,"name":"a"}'
  const answer = await httpRequest(`${managementUrl}/try/plants`, {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length },
    body,
  })
  t.hasStrict(answer, { status: 200, headers: { 'try-status': '200 OK' }, body: '{"name":"a"}' })
})

t.test('a killed worker is replaced while the other serves', async (t) => {
  const STORE_URL = storeWith(t)
  const { create, pids, page, becomes, stop, banner } = await startWorkers(t, { STORE_URL })
  const [first] = await pids()
  const before = figure(await page('/metrics'), answered)
  process.kill(first, 'SIGKILL')
  await becomes(/^worker \d+ ended by SIGKILL\n$/)
  for (let id = 1; id <= 4; id++) t.same(await create(id), [200, 'close'])
  await becomes(/^starting\n$/)
  await becomes(/^ready\n$/)
  t.equal(figure(await page('/metrics'), answered), before + 4, 'what was counted does not fall')
  const told = `plant-store: worker ${first} ended by SIGKILL; starting a replacement\n`
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: `${banner}${told}` })
})

t.test("a probe shows a worker's error, and a worker whose store failed is replaced", async (t) => {
  const STORE_URL = storeWith(
    t,
    `ready: async () => { if (existsSync(flag)) throw new Error('no disk') },
     failure: new Promise((resolve) => process.once('SIGUSR2', () => resolve(new Error('gone')))),`,
  )
  const { pids, becomes, stop, banner } = await startWorkers(t, { STORE_URL })
  const [first] = await pids()
  const flag = join(t.testdirName, 'flag')
  writeFileSync(flag, '')
  await becomes(/^no disk\n$/)
  rmSync(flag)
  process.kill(first, 'SIGUSR2')
  await becomes(/^the store has failed: gone\n$/)
  await becomes(/^ready\n$/)
  const told = 'plant-store: the store has failed: gone; starting a replacement\n'
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: `${banner}${told}` })
})
