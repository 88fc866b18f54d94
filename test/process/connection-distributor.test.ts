import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { distributeConnections } from '../../src/process/connection-distributor.ts'
import type { WorkerProcess } from '../../src/process/worker-process.ts'
import { openSocket, untilRefused } from '../support/open-socket.ts'

/** Starts a distributor on a free loopback port. */
async function start(t: Test, limit = 100) {
  let refused = 0
  const connections = distributeConnections(limit, () => refused++)
  t.teardown(() => connections.close())
  const port = Number(new URL(await connections.listen({ host: '127.0.0.1', port: 0 })).port)
  return { ...connections, port, refused: () => refused }
}

/** Returns a worker that accepts a connection when the test calls `settle`, and ends when it calls `end`. */
function newWorker() {
  const offered: { socket: Socket; settle: (isTaken: boolean) => void }[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = () => {
      for (const { settle } of offered) settle(false)
      resolve()
    }
  })
  const passConnection = (socket: Socket) => new Promise<boolean>((settle) => offered.push({ socket, settle }))
  return { worker: { passConnection, ended } as unknown as WorkerProcess, offered, end }
}

t.test('connections go to workers round-robin, one at a time', async (t) => {
  const { add, port } = await start(t)
  const workers = [newWorker(), newWorker()]
  for (const { worker } of workers) add(worker)
  for (let count = 0; count < 4; count++) await openSocket(t, port)
  const counts = () => workers.map(({ offered }) => offered.length)
  await until(() => counts().every((count) => count === 1), 'each worker is offered a connection')
  workers[1]?.offered[0]?.settle(true)
  await until(() => counts()[1] === 2, 'the worker that accepted a connection is offered the next one')
  t.same(counts(), [1, 2])
  for (const { end } of workers) end()
})

t.test('without a worker a connection is closed at once', async (t) => {
  const { add, port } = await start(t)
  await (await openSocket(t, port)).closed()
  const { worker, offered, end } = newWorker()
  add(worker)
  const clients = [await openSocket(t, port), await openSocket(t, port)]
  await until(() => offered.length === 1, 'the worker is offered a connection')
  end()
  for (const client of clients) await client.closed()
  await (await openSocket(t, port)).closed()
})

t.test('queued connections over the limit are closed and counted', async (t) => {
  const { add, port, refused } = await start(t, 2)
  const { worker, offered, end } = newWorker()
  add(worker)
  const kept = [await openSocket(t, port), await openSocket(t, port)]
  await until(() => offered.length === 1, 'the worker is offered a connection')
  await (await openSocket(t, port)).closed()
  t.equal(refused(), 1)
  t.notOk(kept.some((client) => client.isClosed()))
  end()
})

t.test('close still hands over accepted connections', async (t) => {
  const { add, close, port } = await start(t)
  const { worker, offered, end } = newWorker()
  add(worker)
  const clients = [await openSocket(t, port), await openSocket(t, port)]
  await until(() => offered.length === 1, 'the worker is offered a connection')
  let hasClosed = false
  const closed = close().then(() => {
    hasClosed = true
  })
  await untilRefused(port)
  t.notOk(hasClosed)
  const takeAll = () => {
    for (const { settle } of offered) settle(true)
    return hasClosed
  }
  await until(takeAll, 'the close')
  await closed
  t.ok(offered.length >= 2)
  end()
  for (const client of clients) await client.closed()
})
