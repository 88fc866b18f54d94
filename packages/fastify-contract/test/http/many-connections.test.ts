import { setTimeout as sleep } from 'node:timers/promises'
import { collectGarbage } from 'fastify-contract-test-support/heap'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 200: { description: 'All.', content: { 'application/json': { schema: {} } } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: { '/trees': { get: { operationId: 'getTrees', responses } } },
} as never

/** More than one check looks at. */
const count = 1_200

async function served(t: Test) {
  const app = await serveDocument(document, {
    handlers: { getTrees: async () => ({ status: 200, body: [] }) } as never,
  })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  return { app, port }
}

const get = 'GET /trees HTTP/1.1\r\nhost: a\r\nconnection: keep-alive\r\n\r\n'

t.test('an incomplete head that is too large gets 431 on the last of many idle connections, too', async (t) => {
  const { port } = await served(t)
  const sockets = []
  for (let index = 0; index < count; index++) sockets.push(await openSocket(t, port))
  for (const index of [0, count - 1]) sockets[index]?.socket.write(get)
  await sockets.at(-1)?.receives(/200 OK/)
  // Two checks find all of them idle.
  await sleep(600)
  for (const index of [0, count - 1]) sockets[index]?.socket.write(`GET /trees HTTP/1.1\r\na:${' '.repeat(20_000)}`)
  for (const index of [0, count - 1]) t.match(await sockets[index]?.receives(/HTTP\/1\.1 431 /), /43100/)
})

t.test('closed connections do not stay in memory', async (t) => {
  const { app, port } = await served(t)
  const refs: WeakRef<object>[] = []
  app.server.on('connection', (socket) => refs.push(new WeakRef(socket)))
  const sockets = []
  for (let index = 0; index < count; index++) sockets.push(await openSocket(t, port, get))
  await sockets.at(-1)?.receives(/200 OK/)
  // A check has looked at some of them.
  await sleep(1_500)
  for (const { socket } of sockets.splice(0)) socket.destroy()
  await until(
    function isCollected() {
      collectGarbage()
      return refs.every((ref) => ref.deref() === undefined)
    },
    () => `${refs.filter((ref) => ref.deref() !== undefined).length} closed connections are in memory`,
    20_000,
  )
  t.equal(refs.length, count)
})
