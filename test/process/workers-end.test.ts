import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { withKillAsExitCode } from '../support/child-process.ts'
import { openSocket } from '../support/open-socket.ts'
import { sourceCode } from '../support/service-code.ts'
import { spawnService } from '../support/service-process.ts'
import { startWorkers, storeWith, twoWorkers, untilProcessGone } from '../support/worker-service.ts'

t.test('a stuck worker delays neither the admin server nor the exit', async (t) => {
  const stuck = "create: () => { console.log('taken by ' + process.pid); while (true); },"
  const STORE_URL = storeWith(t, stuck, 'memory:', sourceCode)
  const { create, find, page, becomes, signal, stop, banner } = await startWorkers(t, { STORE_URL }, sourceCode)
  t.match(await page('/metrics'), /^http_server_active_requests 0$/m)
  const answer = create(1).catch(() => 'cut off')
  const [, pid] = await find('stdout', /^taken by (\d+)\n/m)
  t.match(await page('/metrics'), /^http_server_active_requests 0$/m, 'the last figures of the stuck worker')
  await becomes(/^the store did not respond within 2000 ms\n$/)
  signal('SIGTERM')
  t.hasStrict(withKillAsExitCode(await stop('SIGINT')), { code: 1, signal: null, stderr: banner })
  t.equal(await answer, 'cut off')
  await untilProcessGone(Number(pid))
})

t.test('workers exit when the primary process is gone', async (t) => {
  const { pids, stop } = await startWorkers(t, { STORE_URL: storeWith(t) })
  const workers = await pids()
  t.hasStrict(await stop('SIGKILL'), { code: null, signal: 'SIGKILL' })
  await Promise.all(workers.map(untilProcessGone))
})

t.test('a signal ends workers that are still starting', async (t) => {
  const opening = "opening: await (console.log('opening'), new Promise(() => {})),"
  const slow = storeWith(t, opening, 'memory:', sourceCode)
  const starting = spawnService({ ...twoWorkers, STORE_URL: slow }, sourceCode)
  await starting.find('stdout', /^opening$/m)
  t.hasStrict(await starting.stop(), { code: 0, signal: null, stderr: '' })

  const later = 'opening: await (existsSync(flag) && new Promise(() => {})),'
  const STORE_URL = storeWith(t, later, 'memory:', sourceCode)
  const { pids, becomes, stop } = await startWorkers(t, { STORE_URL }, sourceCode)
  const [first] = await pids()
  writeFileSync(join(t.testdirName, 'flag'), '')
  process.kill(first, 'SIGKILL')
  await becomes(/^starting\n$/)
  t.hasStrict(await stop(), { code: 0, signal: null })
})

t.test('a worker that exits during shutdown is not replaced', async (t) => {
  const STORE_URL = storeWith(t, '', 'memory:', sourceCode)
  const { pids, becomes, stop, banner } = await startWorkers(t, { STORE_URL }, sourceCode)
  const [first] = await pids()
  process.kill(first, 'SIGKILL')
  await becomes(/^worker \d+ ended by SIGKILL\n$/)
  const told = `plant-store: worker ${first} ended by SIGKILL; starting a replacement\n`
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: `${banner}${told}` })
})

t.test('a worker that exits during a handover is replaced, and its connections are closed', async (t) => {
  const STORE_URL = storeWith(t, '', 'memory:', sourceCode)
  const { port, pids, becomes, stop, banner } = await startWorkers(t, { STORE_URL }, sourceCode)
  const [first] = await pids()
  process.kill(first, 'SIGSTOP')
  const request = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'
  const clients = await Promise.all([1, 2, 3, 4].map(() => openSocket(t, port, request)))
  const served = () => clients.filter((client) => client.received() !== '').length
  // Connections go round-robin, so the other worker gets all but one.
  await until(() => served() >= 3, 'the other worker serves')
  process.kill(first, 'SIGKILL')
  await until(() => clients.every((client) => client.isClosed() || client.received() !== ''), 'no client waits')
  await becomes(/^starting\n$/)
  await becomes(/^ready\n$/)
  const told = `plant-store: worker ${first} ended by SIGKILL; starting a replacement\n`
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: `${banner}${told}` })
})
