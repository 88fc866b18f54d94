import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { TestRequest } from '../../../src/contract-test/exchange.ts'
import type { TargetLimits } from '../../../src/contract-test/targets/target-error.ts'
import { urlTarget } from '../../../src/contract-test/targets/url-target.ts'
import { testRequest } from '../test-request.ts'

const request = (given: Partial<TestRequest> = {}) =>
  testRequest({
    operation: { server: 'http://other.example/v1' } as TestRequest['operation'],
    target: '/v1/pets',
    ...given,
  })

async function listening(t: Test, server: ReturnType<typeof createTcpServer>): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function targetOf(t: Test, url: string, limits: Partial<TargetLimits> = {}) {
  const target = urlTarget(url, { limits })
  t.teardown(target.close)
  return target
}

const served = async (t: Test, answer: RequestListener, path = '', limits: Partial<TargetLimits> = {}) =>
  targetOf(t, (await listening(t, createHttpServer(answer))) + path, limits)

/** A server that writes a text after the first bytes of each connection. */
const written = async (t: Test, text: string, limits: Partial<TargetLimits> = {}, ends = true) =>
  targetOf(
    t,
    await listening(
      t,
      createTcpServer((socket) =>
        socket
          .once('data', function respond() {
            socket.write(text, 'latin1')
            if (ends) socket.end()
          })
          .on('error', () => {}),
      ),
    ),
    limits,
  )

t.test('a request arrives as it was given: method, target, headers and a body with any method', async (t) => {
  const target = await served(t, function echo(request, response) {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', function respond() {
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'x-many': 'one' })
      const { method, url, headers } = request
      response.end(JSON.stringify([method, url, headers['x-odd'], Buffer.concat(chunks).toString('hex')]))
    })
  })
  const sent = {
    target: "/v1/a%2Fb/../c?x=%zz&y=[1]'",
    headers: { 'x-odd': 'a  b\u00e9' },
    body: Buffer.from([0, 255]),
  }
  const { status, headers, body } = await target.send(request({ method: 'QUERY', ...sent }))
  t.equal(status, 200)
  t.same(headers['set-cookie'], ['a=1', 'b=2'])
  t.same(JSON.parse(Buffer.from(body).toString()), ['QUERY', sent.target, sent.headers['x-odd'], '00ff'])
})

t.test('the path of the URL replaces the base path of the servers of the document', async (t) => {
  const echo: RequestListener = ({ url }, response) => response.end(url)
  const whole = await served(t, echo)
  t.equal(Buffer.from((await whole.send(request())).body).toString(), '/v1/pets')
  const based = await served(t, echo, '/api/')
  t.equal(Buffer.from((await based.send(request())).body).toString(), '/api/pets')
  t.equal(Buffer.from((await based.send(request({ target: '/v12' }))).body).toString(), '/api/v12')
  const prefixed = urlTarget(`${await listening(t, createHttpServer(echo))}/api/`, { prefix: '/v2' })
  t.teardown(prefixed.close)
  const { body } = await prefixed.send(request())
  t.equal(Buffer.from(body).toString(), '/api/v2/v1/pets', 'a prefix replaces nothing')
})

t.test('a redirect is a response, and no other host is contacted', async (t) => {
  let followed = 0
  const other = await listening(
    t,
    createHttpServer(function countRequest(_, response) {
      followed++
      response.end()
    }),
  )
  const target = await served(t, (_, response) => response.writeHead(302, { location: other }).end())
  t.equal((await target.send(request())).status, 302)
  t.equal(followed, 0)
})

t.test('a response is bounded in time and in bytes', async (t) => {
  const silent = await written(t, '', { time: 50 }, false)
  await t.rejects(silent.send(request()), { kind: 'timeout', message: /no complete response within 50 ms/ })
  const dripping = await written(t, 'HTTP/1.1 200 OK\r\n\r\nx', { time: 50 }, false)
  await t.rejects(dripping.send(request()), { kind: 'timeout', message: /no complete response/ })
  const endless = await served(
    t,
    function writeOn(_, response) {
      const writeMore = () => response.write(Buffer.alloc(10_000)) && setImmediate(writeMore)
      response.on('drain', writeMore)
      writeMore()
    },
    '',
    { bytes: 100_000 },
  )
  await t.rejects(endless.send(request()), { kind: 'tooLarge', message: /more than 100000 bytes/ })
})

t.test('connections are bounded', async (t) => {
  let open = 0
  let most = 0
  const target = await served(
    t,
    function respondLater(_, response) {
      most = Math.max(most, ++open)
      setTimeout(function respond() {
        open--
        response.end()
      }, 5)
    },
    '',
    { connections: 2 },
  )
  await Promise.all(Array.from({ length: 20 }, () => target.send(request())))
  t.equal(most, 2)
})

t.test('broken responses are errors that name the problem', async (t) => {
  const broken: Record<string, RegExp> = {
    '': /closed the connection before the response was complete/,
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab': /closed the connection before the response was complete/,
    'HTTP/1.1 200 OK\r\nbad header\r\n\r\n': /not valid HTTP\/1.1/,
    [`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(70_000)}\r\n\r\n`]: /not valid HTTP\/1.1/,
    'HTTP/1.1 100 Continue\r\n\r\n': /closed the connection/,
  }
  for (const [text, message] of Object.entries(broken)) {
    const target = await written(t, text)
    await t.rejects(target.send(request()), { kind: 'broken', message }, text.slice(0, 60))
  }
  const informed = await written(t, 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  t.equal((await informed.send(request())).status, 200, 'a final response follows an interim one')
  const upgraded = await written(t, 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nrest')
  t.equal((await upgraded.send(request())).status, 101)
})

/** Resolves when node:http may use a connection again, which is after the end of the response. */
const untilFree = () => new Promise((resolve) => setImmediate(resolve))

t.test('a connection that the server closed while idle is replaced', async (t) => {
  let connections = 0
  let resets = 0
  const target = targetOf(
    t,
    await listening(
      t,
      createTcpServer(function respondOnce(socket) {
        connections++
        socket.once('data', function respond() {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
          socket.once('data', function reset() {
            resets++
            socket.resetAndDestroy()
          })
        })
        socket.on('error', () => {})
      }),
    ),
  )
  await target.send(request())
  await untilFree()
  t.equal((await target.send(request())).status, 200)
  t.same({ connections, resets }, { connections: 2, resets: 1 })
})

t.test(
  'a request whose response breaks off is not sent again, also on a connection that was used before',
  async (t) => {
    let connections = 0
    let requests = 0
    const target = targetOf(
      t,
      await listening(
        t,
        createTcpServer(function breakOff(socket) {
          connections++
          socket.on('error', () => {})
          socket.on('data', function respond() {
            if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
            else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart', () => resetLater(socket))
          })
        }),
      ),
    )
    await target.send(request())
    await untilFree()
    await t.rejects(target.send(request()), { kind: 'broken', message: /closed the connection/ })
    t.same({ connections, requests }, { connections: 1, requests: 2 })
  },
)

/** Resets a connection after the client, which is in this process, has read what was written: it reads between two turns. */
const resetLater = (socket: Socket) => void setImmediate(() => setImmediate(() => socket.resetAndDestroy()))

t.test('a request that is cut off arrives in part', async (t) => {
  let received = ''
  let isClosed = false
  const target = targetOf(
    t,
    await listening(
      t,
      createTcpServer((socket) =>
        socket
          .on('data', (chunk) => {
            received += chunk
          })
          .on('error', () => {})
          .on('close', () => {
            isClosed = true
          }),
      ),
    ),
  )
  await target.sendCut?.(request({ method: 'POST', body: Buffer.from('abcdef') }), 3)
  await until(async () => isClosed, 'the connection closes')
  t.match(received, /^POST \/v1\/pets HTTP\/1\.1\r\n.*content-length: 6\r\n.*\r\n\r\nabc$/is)
  await t.rejects(async () => target.sendCut?.(request({ body: Buffer.from('ab') }), 2), RangeError)
  await t.rejects(async () => target.sendCut?.(request(), 0), RangeError)
})

t.test('a server that cannot be reached, and TLS that cannot be had, are named with a remedy', async (t) => {
  const url = await new Promise<string>(function freeUrl(resolve) {
    const server = createTcpServer().listen(0, '127.0.0.1', function close() {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(`http://127.0.0.1:${port}`))
    })
  })
  await t.rejects(targetOf(t, url).send(request()), { kind: 'unreachable', message: /ECONNREFUSED.*start the server/ })
  await t.rejects(async () => targetOf(t, url).sendCut?.(request({ body: Buffer.from('ab') }), 1), {
    kind: 'unreachable',
    message: /ECONNREFUSED/,
  })
  const plain = await listening(
    t,
    createHttpServer((_, response) => response.end()),
  )
  await t.rejects(targetOf(t, plain.replace('http:', 'https:')).send(request()), { kind: 'tls', message: /TLS/ })
})

t.test('a request that HTTP/1.1 cannot carry is not sent', async (t) => {
  const target = await served(t, () => t.fail('a request arrived'))
  for (const given of [{ method: 'A B' }, { target: '/a b' }, { target: 'a' }, { headers: { x: 'a\nb' } }])
    await t.rejects(
      target.send(request(given)),
      { kind: 'unsendable', message: /cannot be sent/ },
      JSON.stringify(given),
    )
})

t.test('the URL of a server is checked, and an error does not show it', async (t) => {
  for (const url of [
    '',
    'localhost',
    'ftp://a.example',
    'http://user:secret@a.example',
    'http://a.example/?key=secret',
  ])
    t.throws(() => urlTarget(url), { message: /^the URL of the server (?!.*secret)/ }, url)
  t.equal(urlTarget('http://[::1]:3000/a/').name, 'http://[::1]:3000/a')
})
