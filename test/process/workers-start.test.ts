import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { withKillAsExitCode } from '../support/child-process.ts'
import { openSocket } from '../support/open-socket.ts'
import { sourceCode } from '../support/service-code.ts'
import { spawnService, startService } from '../support/service-process.ts'
import { startWorkers, storeWith, twoWorkers } from '../support/worker-service.ts'

t.test('connections over the limit of each worker are closed and counted', async (t) => {
  const environment = { CONNECTIONS_LIMIT: '1', STORE_URL: storeWith(t, '', 'memory:', sourceCode) }
  const { port, page, create, stop, banner } = await startWorkers(t, environment, sourceCode)
  const request = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'
  const [first, second] = await Promise.all([openSocket(t, port, request), openSocket(t, port, request)])
  // The answer shows that a worker has taken the connection, which is kept.
  await Promise.all([first, second].map(({ receives }) => receives(/^HTTP\/1\.1 404 /)))
  const third = await openSocket(t, port)
  t.equal(await third.closed(), '')
  t.match(await page('/metrics'), /^plant_store_requests_refused_total\{reason="connections"\} 1$/m)
  t.notOk(first.isClosed() || second.isClosed())
  first.socket.destroy()
  const isTaken = async () => (await create(1).catch(() => []))[0]
  t.equal(await until(isTaken, 'a connection is taken again'), 200)
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })
})

t.test('invalid configuration stops the start of workers with one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const PORT = String((taken.address() as AddressInfo).port)
  const STORE_URL = storeWith(t)
  const away = 'postgres://me:s3cret@127.0.0.1:1/plants'
  const cases: [Record<string, string>, RegExp][] = [
    [{ STORE_URL: 'memory:' }, /^plant-store: WORKERS is "2", allowed: 1 with STORE_URL=memory:, .*\n$/],
    [{ PORT }, /^plant-store: PORT is \d+: another process listens on 127\.0\.0\.1:\d+; use a free port\n$/],
    [{ MANAGEMENT_PORT: PORT }, /^plant-store: MANAGEMENT_PORT is \d+: another process listens on .*\n$/],
    [{ STORE_URL: away }, /^plant-store: STORE_URL is "postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/plants": .*\n$/],
  ]
  for (const [environment, line] of cases) {
    const end = await spawnService({ ...twoWorkers, STORE_URL, ...environment }).untilEnded()
    const { stderr, ...rest } = withKillAsExitCode(end)
    t.same(rest, { code: 1, signal: null, stdout: '' })
    t.match(stderr, line)
  }
})

t.test('without ACCESS_TOKENS all workers share a generated token', async (t) => {
  const service = await startService(t, { ACCESS_TOKENS: '', WORKERS: '2', STORE_URL: storeWith(t) })
  const [, made] = await service.find('stderr', /accepts the token (\S+)\n/)
  const taken = () => new Set(Array.from(service.output.stdout.matchAll(/^taken by (\d+)$/gm), ([, pid]) => pid))
  let id = 0
  const create = async () => {
    const { status } = await service.create(JSON.stringify({ id: id++, name: 'a' }), {
      authorization: `Bearer ${made}`,
    })
    t.equal(status, 200)
    return taken().size === 2
  }
  await until(create, 'both workers take creates')
})
