import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { run } from '../support/process.ts'
import { token } from '../support/service.ts'
import { createAt, startWorkers, storeWith } from '../support/workers.ts'

t.test('connections beyond the limit of each worker are closed and counted', async (t) => {
  const { url, page, child, ended } = await startWorkers(t, { CONNECTIONS_LIMIT: '1', STORE_URL: storeWith(t) })
  const sockets = [1, 2].map(() => connect(Number(new URL(url).port), '127.0.0.1').resume())
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await sleep(200)
  const third = connect(Number(new URL(url).port), '127.0.0.1').resume()
  third.on('error', () => {})
  await once(third, 'close')
  t.match(await page('/metrics'), /^plant_store_requests_refused_total\{reason="connections"\} 1$/m)
  sockets[0]?.destroy()
  let status: number | undefined
  while (status === undefined) [status] = await createAt(url, 1, 'a', false).catch(() => [undefined])
  t.equal(status, 200, 'there is room again')
  child.kill('SIGTERM')
  t.match(await ended, { code: 0 })
})

t.test('a start that cannot be is refused with one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const PORT = String((taken.address() as AddressInfo).port)
  const STORE_URL = storeWith(t)
  const away = 'postgres://me:s3cret@127.0.0.1:1/plants'
  const cases: [Record<string, string>, RegExp][] = [
    [{ STORE_URL: 'memory:' }, /^plant-store: WORKERS is "2", allowed: 1 beside STORE_URL=memory:, .*\n$/],
    [{ PORT }, /^plant-store: PORT is \d+: another process listens on 127\.0\.0\.1:\d+, allowed: a free port\n$/],
    [{ MANAGEMENT_PORT: PORT }, /^plant-store: MANAGEMENT_PORT is \d+: another process listens on .*\n$/],
    [{ STORE_URL: away }, /^plant-store: STORE_URL is "postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/plants": .*\n$/],
  ]
  for (const [environment, line] of cases) {
    const { ended } = run(t, 'src/server.ts', { ACCESS_TOKENS: token, WORKERS: '2', STORE_URL, ...environment })
    t.match(await ended, { code: 1, signal: null, stdout: '', stderr: line })
  }
})

t.test('without tokens one is made for all workers', async (t) => {
  const server = run(t, 'src/server.ts', { WORKERS: '2', STORE_URL: storeWith(t) })
  const [, made] = await server.find('stderr', /takes the token (\S+)\n/)
  const [, url] = / on (\S+), store /.exec(server.output.stderr) ?? []
  const headers = { authorization: `Bearer ${made}`, 'content-type': 'application/json', connection: 'close' }
  for (let id = 1; id <= 4; id++) {
    const answer = await fetch(`${url}/plants`, { method: 'POST', headers, body: JSON.stringify({ id, name: 'a' }) })
    t.equal(answer.status, 200)
  }
})
