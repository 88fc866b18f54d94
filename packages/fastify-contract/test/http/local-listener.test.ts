import dns from 'node:dns/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import type { RequestContext } from '../../src/http/request-context.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
/** The address of localhost beside 127.0.0.1. */
const other = hasIpv6 ? '::1' : '127.0.0.2'

const document = {
  openapi: '3.1.0',
  info: { title: 'Local', version: '1.0.0' },
  security: [],
  paths: {
    '/x': { get: { operationId: 'x', responses: { 200: { description: '', content: { 'application/json': {} } } } } },
  },
} as unknown as Document

/** Makes localhost resolve to the given addresses during a test. */
function resolveTo(t: Test, ...addresses: string[]): void {
  const { lookup } = dns
  const replace = (by: unknown) => {
    Object.assign(dns, { lookup: by })
    syncBuiltinESMExports()
  }
  replace(async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  t.teardown(() => replace(lookup))
}

const ok = async () => ({ status: 200, body: {} })

async function serve(t: Test, options: Served = {}) {
  const app = await serveDocument(document, { handlers: { x: ok }, ...options })
  t.teardown(() => app.close())
  return app
}

const portOf = ({ server }: Awaited<ReturnType<typeof serve>>) => (server.address() as { port: number }).port

/** Sends text to an address, and resolves with what was received when the connection is closed. */
async function exchange(port: number, host: string, text: string): Promise<string> {
  const socket = connect(port, host)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return received
}

const get = 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

t.test('each address of localhost has the error bodies, the observer and the limits of the server', async (t) => {
  resolveTo(t, '127.0.0.1', other, '127.0.0.1')
  const ended: RequestContext[] = []
  const observer = { begin() {}, end: (context: RequestContext) => void ended.push(context) }
  const app = await serve(t, { observer, limits: { connections: 2, headers: 1_000 } })
  await app.listen({ port: 0 })
  const port = portOf(app)
  t.same(
    app.addresses().map((each) => (each as { address: string }).address),
    ['127.0.0.1', other],
  )
  for (const host of ['127.0.0.1', other]) {
    t.match(await exchange(port, host, get), /^HTTP\/1.1 200 /, host)
    t.match(
      await exchange(port, host, 'GET / HTTP/1.1\r\nBad Header\r\n\r\n'),
      /^HTTP\/1.1 400 [\s\S]*"error":40000/,
      host,
    )
    t.match(await exchange(port, host, `GET /x HTTP/1.1\r\nX: ${'a'.repeat(2_000)}`), /^HTTP\/1.1 431 /, host)
  }
  t.equal(ended.length, 6)
  const drops = { count: 0 }
  app.server.on('drop', () => drops.count++)
  const open = []
  for (const host of ['127.0.0.1', other]) {
    open.push(connect(port, host))
    await once(app.server, 'connection')
  }
  t.equal(await exchange(port, other, get), '', 'a connection beyond the limit is closed')
  t.equal(drops.count, 1)
  for (const socket of open) socket.destroy()
})

t.test('close() finishes the requests of each address of localhost', async (t) => {
  resolveTo(t, '127.0.0.1', other)
  let begin = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow = () => {
    begin()
    return finished.then(ok)
  }
  const app = await serve(t, { handlers: { x: slow } })
  await app.listen({ port: 0, host: 'localhost' })
  const port = portOf(app)
  const response = exchange(port, other, get.replace('Connection: close\r\n', ''))
  await begun
  const closed = app.close()
  let isListening = true
  while (isListening) {
    const probe = connect(port, other)
    isListening = await once(probe, 'connect').then(
      () => true,
      () => false,
    )
    probe.destroy()
    await sleep(10)
  }
  finish()
  t.match(await response, /^HTTP\/1.1 200 [\s\S]*connection: close/i)
  await closed
})

t.test('listen takes a callback, and leaves out an address on which nothing can listen', async (t) => {
  resolveTo(t, '127.0.0.1', '192.0.2.1')
  const app = await serve(t)
  const address = await new Promise<string>((resolve, reject) => {
    app.listen({ port: 0 }, (error, url) => (error ? reject(error) : resolve(url)))
  })
  t.equal(address, `http://127.0.0.1:${portOf(app)}`)
  t.equal(app.addresses().length, 1)
  const second = await serve(t)
  await new Promise<void>((resolve) => {
    second.listen({ port: portOf(app) }, (error) => {
      t.match(error, { code: 'EADDRINUSE' })
      resolve()
    })
  })
  const third = await serve(t)
  t.match(await third.listen(), /^http:\/\/127\.0\.0\.1:\d+$/)
})
