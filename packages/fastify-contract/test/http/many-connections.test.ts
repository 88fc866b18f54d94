import { setTimeout as sleep } from 'node:timers/promises'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t from 'tap'
import { createServer } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const responses = { 200: { description: 'All.', content: { 'application/json': { schema: {} } } } }
const routes = compileRoutes({
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: { '/trees': { get: { operationId: 'getTrees', responses } } },
} as never)

/** More than one check looks at. */
const count = 1_200

t.test('an incomplete head that is too large gets 431 on the last of many idle connections, too', async (t) => {
  const app = createServer({
    contract: { routes },
    handlers: { getTrees: async () => ({ status: 200, body: [] }) } as never,
    verifiers: {},
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000 },
  })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const sockets = []
  for (let index = 0; index < count; index++) sockets.push(await openSocket(t, port))
  for (const index of [0, count - 1])
    sockets[index]?.socket.write('GET /trees HTTP/1.1\r\nhost: a\r\nconnection: keep-alive\r\n\r\n')
  await sockets.at(-1)?.receives(/200 OK/)
  // Two checks find all of them idle.
  await sleep(600)
  for (const index of [0, count - 1]) sockets[index]?.socket.write(`GET /trees HTTP/1.1\r\na:${' '.repeat(20_000)}`)
  for (const index of [0, count - 1]) t.match(await sockets[index]?.receives(/HTTP\/1\.1 431 /), /43100/)
})
