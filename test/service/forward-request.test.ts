import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import { createForwarder, forwardLimit } from '../../packages/fastify-contract/src/service/forward-request.ts'
import { until } from '../../scripts/system/poll.ts'
import { httpRequest, sameOriginHeaders } from '../support/http-request.ts'
import { openSocket } from '../support/open-socket.ts'
import { serveDocs } from '../support/serve-docs.ts'

/** Listens on a free loopback port until the test ends, and returns the URL. */
async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a service and its admin server. Returns the URL below which the admin server forwards requests. */
async function start(t: Test, listener: RequestListener): Promise<string> {
  const docs = await serveDocs(t, 'index.html', await listen(t, listener))
  return new URL('/try', docs).href
}

const headersOf = ({ rawHeaders }: IncomingMessage) => rawHeaders.filter((_, index) => index % 2 === 0)

t.test('requests and responses are forwarded with their try- headers', async (t) => {
  const body = '{"id": 9223372036854775807}'
  const url = await start(t, async (request, response) => {
    const { method, url, headers } = request
    t.hasStrict({ method, url }, { method: 'PATCH', url: '/plants/1?a=%C3%A4&b' })
    t.hasStrict(headers, { authorization: 'Bearer x', cookie: 'a=1', 'content-length': String(body.length) })
    t.same(headersOf(request).sort(), ['Connection', 'Host', 'authorization', 'content-length', 'cookie', 'expect'])
    t.match(headers.host, /^127\.0\.0\.1:\d+$/)
    t.equal(await text(request), body)
    response.writeHead(401, 'Who is it', [
      ...['Set-Cookie', 'a=1'],
      ...['Set-Cookie', 'b=2'],
      ...['WWW-Authenticate', 'Basic realm="x"'],
      ...['Clear-Site-Data', '"*"'],
    ])
    response.end(body)
  })
  const answer = await httpRequest(`${url}/plants/1?a=%C3%A4&b`, {
    method: 'PATCH',
    body,
    headers: {
      ...sameOriginHeaders,
      ...{ cookie: 'other=1', origin: 'http://localhost', authorization: 'other', accept: '*/*' },
      ...{ 'try-authorization': 'Bearer x', 'try-cookie': 'a=1', 'try-': 'a', 'try-transfer-encoding': 'chunked' },
      ...{ 'try-host': 'plants.example', 'try-content-length': '1', 'try-connection': 'upgrade', 'try-expect': 'a' },
      'content-length': body.length,
    },
  })
  t.hasStrict(answer, { status: 200, body })
  t.hasStrict(answer.headers, {
    'try-status': '401 Who is it',
    'try-set-cookie': 'a=1, b=2',
    'try-www-authenticate': 'Basic realm="x"',
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  for (const name of ['set-cookie', 'www-authenticate', 'clear-site-data']) t.notOk(name in answer.headers, name)
})

t.test('HEAD and responses without a body are forwarded', async (t) => {
  const url = await start(t, ({ headers }, response) => {
    t.notOk('content-length' in headers)
    response.writeHead(204).end()
  })
  for (const method of ['HEAD', 'GET', 'OPTIONS']) {
    const answer = await httpRequest(`${url}/`, { method, headers: sameOriginHeaders })
    t.hasStrict(answer, { status: 200, body: '' }, method)
    t.equal(answer.headers['try-status'], '204 No Content')
  }
})

t.test('only pages of the admin server may forward requests', async (t) => {
  const url = await start(t, () => t.fail('the service is asked'))
  for (const [site, destination] of [
    [undefined, undefined],
    ['same-origin', undefined],
    ['cross-site', 'empty'],
    ['same-site', 'empty'],
    ['none', 'empty'],
    ['same-origin, cross-site', 'empty'],
    // A link, a frame and a script send these headers.
    ['same-origin', 'document'],
    ['same-origin', 'iframe'],
    ['same-origin', 'script'],
  ]) {
    const headers = {
      ...(site !== undefined && { 'sec-fetch-site': site }),
      ...(destination !== undefined && { 'sec-fetch-dest': destination }),
    }
    const answer = await httpRequest(`${url}/plants`, { method: 'POST', headers })
    t.match(answer, { status: 403, body: /^[^\n]*try\.html[^\n]*\n$/ }, `${site} ${destination}`)
  }
  const rebound = { ...sameOriginHeaders, host: 'plants.example:3001' }
  t.equal((await httpRequest(`${url}/plants`, { method: 'POST', headers: rebound })).status, 421)
  const chunked = { ...sameOriginHeaders, 'transfer-encoding': 'chunked' }
  t.match(await httpRequest(`${url}/plants`, { method: 'POST', headers: chunked, body: 'a' }), {
    status: 411,
    body: /Length/,
  })
  t.equal((await httpRequest(url, { method: 'POST', headers: sameOriginHeaders })).status, 404)
})

t.test('a request gets 503 before the service listens', async (t) => {
  const early = await serveDocs(t, 'index.html')
  t.match(await httpRequest(new URL('/try/', early).href, { headers: sameOriginHeaders }), {
    status: 503,
    body: /not listening yet/,
  })
  const gone = await serveDocs(t, 'index.html', 'http://127.0.0.1:1')
  t.match(await httpRequest(new URL('/try/', gone).href, { headers: sameOriginHeaders }), {
    status: 502,
    body: /ECONNREFUSED/,
  })
})

t.test('concurrent forwarding is limited, and a disconnected client ends its request', async (t) => {
  let open = 0
  const url = await start(t, (request) => {
    open++
    request.socket.once('close', () => open--)
  })
  const port = Number(new URL(url).port)
  const head = 'GET /try/ HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\n\r\n'
  const clients = await Promise.all(Array.from({ length: forwardLimit }, () => openSocket(t, port, head)))
  await until(
    () => open === forwardLimit,
    () => `${open} are forwarded`,
  )
  t.match(await httpRequest(`${url}/`, { headers: sameOriginHeaders }), { status: 503, body: /try again later/ })
  clients[0]?.socket.destroy()
  await until(
    () => open === forwardLimit - 1,
    () => `${open} are forwarded`,
  )
  await openSocket(t, port, head)
  await until(
    () => open === forwardLimit,
    () => `${open} are forwarded`,
  )
})

t.test('an unread body is drained, so that the browser reads the response', async (t) => {
  const url = await start(t, ({ socket }) => socket.destroy())
  const length = 16 * 1024 * 1024
  const head = `POST /try/ HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\n`
  const client = await openSocket(t, Number(new URL(url).port), `${head}Content-Length: ${length}\r\n\r\n`)
  // Gives the service time to close its connection.
  await new Promise((done) => setTimeout(done, 300))
  t.notOk(await new Promise((done) => client.socket.write(Buffer.alloc(length), done)), 'the whole body is sent')
  t.match(await client.closed(), /^HTTP\/1\.1 502 .*the service did not respond: /s)
})

t.test('a response that comes before the body has arrived is forwarded', async (t) => {
  const server = createTcpServer((socket) => {
    socket
      .once('data', () => socket.end('HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nno'))
      .on('error', () => {})
    // Further bytes reset the connection.
    socket.once('finish', () => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const docs = await serveDocs(t, 'index.html', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  for (let round = 0; round < 5; round++) {
    const { status, headers, body } = await httpRequest(new URL('/try/plants', docs).href, {
      method: 'POST',
      headers: sameOriginHeaders,
      body: 'x'.repeat(8 * 1024 * 1024),
    })
    t.same([status, headers['try-status'], body], [200, '413 Payload Too Large', 'no'])
  }
})

t.test('bodies are streamed in both directions', async (t) => {
  let written = 0
  const url = await start(t, (request, response) => {
    request.resume()
    response.writeHead(200)
    const write = () => {
      do written += 65_536
      while (response.write(Buffer.alloc(65_536)))
    }
    response.on('drain', write)
    write()
  })
  const port = Number(new URL(url).port)
  const same = 'Host: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\n'
  const slow = await openSocket(t, port, `GET /try/ HTTP/1.1\r\n${same}\r\n`)
  slow.socket.pause()
  await stands(() => written)
  // The kernel's buffers hold some megabytes.
  t.ok(written < 32 * 1024 * 1024, `${written} bytes were read for a client that reads nothing`)

  const deaf = await start(t, () => {})
  const sender = await openSocket(
    t,
    Number(new URL(deaf).port),
    `POST /try/ HTTP/1.1\r\n${same}Content-Length: ${2 ** 40}\r\n\r\n`,
  )
  const send = () => {
    while (sender.socket.write(Buffer.alloc(65_536)));
  }
  sender.socket.on('drain', send)
  send()
  await stands(() => sender.socket.bytesWritten)
  const taken = sender.socket.bytesWritten - sender.socket.writableLength
  t.ok(taken < 32 * 1024 * 1024, `${taken} bytes were read for a service that reads nothing`)
})

/** Waits until a number stops changing. */
async function stands(number: () => number): Promise<void> {
  let last = -1
  await until(
    async () => {
      const before = last
      last = number()
      await new Promise((done) => setTimeout(done, 200))
      return last > 0 && last === before
    },
    () => `it goes on: ${number()}`,
  )
}

t.test('a request over the time limit gets an error, or is cut off once its response has begun', async (t) => {
  const service = await listen(t, ({ url }, response) => {
    if (url === '/half') response.writeHead(200).write('half')
  })
  const forward = createForwarder(() => service, 300)
  const ends: string[] = []
  const url = await listen(t, async (request, response) => {
    const { status = 200, body } = await forward(request)
    response.writeHead(status, { connection: 'close' })
    await pipeline(body as AsyncIterable<Buffer>, response).catch(({ name }) => ends.push(name))
  })
  t.match(await httpRequest(`${url}/try/none`, { headers: sameOriginHeaders }), {
    status: 504,
    body: 'did not respond within 300 ms',
  })
  await t.rejects(httpRequest(`${url}/try/half`, { headers: sameOriginHeaders }))
  t.equal(ends.length, 1)
})
