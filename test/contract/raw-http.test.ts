import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { methodsAt } from '../support/contract.ts'
import { type Case, record, request, runCases, type Step } from '../support/raw-http.ts'
import { authorization, token } from '../support/test-app.ts'
import { overTheWire } from '../support/wire-service.ts'

const head = (line: string) => request({ line, without: ['content-type', 'content-length'], body: '' })
const chunked = (chunks: string, headers: string[] = []) =>
  request({ headers: ['Transfer-Encoding: chunked', ...headers], body: chunks })
const hexLength = record.length.toString(16)
const oneChunk = `${hexLength}\r\n${record}\r\n`
const together = (...requests: Buffer[]) => Buffer.concat(requests)
const named = (id: number) => request({ body: `{"id":${id},"name":"p${id}"}` })
const ok = { status: 200 }
const malformed = { status: 400, error: 40000, closes: true } as const
/** The service rejects these, not the HTTP parser: the framing is known, so the connection may stay open. */
const refused = { status: 400, error: 40000, closes: 'as announced' } as const
const noPath = { status: 404, error: 40400 }
const withLine = (line: string) => request({ line })
const withHeaders = (...headers: string[]) => request({ headers })

const wellFormed: Case[] = [
  { name: 'a plain create', bytes: request(), ...ok, headers: { 'content-length': '14' } },
  { name: 'a target in absolute form', bytes: withLine('POST http://plants.example/plants HTTP/1.1'), ...ok },
  { name: 'a scheme in upper case', bytes: withLine('POST HTTP://plants.example:80/plants?a=b HTTP/1.1'), ...ok },
  { name: 'a query string is ignored', bytes: withLine('POST /plants?id=7&name=%20&%zz HTTP/1.1'), ...ok },
  { name: 'an empty query string', bytes: withLine('POST /plants? HTTP/1.1'), ...ok },
  { name: 'a path with needless percent-encoding', bytes: withLine('POST /%70lants HTTP/1.1'), ...ok },
  { name: 'an empty line before the request', bytes: together(Buffer.from('\r\n'), request()), ...ok },
  {
    name: 'pipelined requests are answered in order',
    bytes: together(...[11, 12, 13, 14, 15].map(named)),
    answers: [11, 12, 13, 14, 15].map((id) => ({ ...ok, body: { name: `p${id}` } })),
  },
  {
    name: 'pipelined: a rejected request between two valid ones',
    bytes: together(named(11), request({ body: '{' }), named(12)),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40002 },
      { ...ok, body: { name: 'p12' } },
    ],
  },
  {
    name: 'pipelined: the second malformed',
    bytes: together(named(11), Buffer.from('BROKEN\r\n\r\n')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
  {
    name: 'pipelined: the third malformed',
    bytes: together(named(11), named(12), Buffer.from('BROKEN\r\n\r\n')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { ...ok, body: { name: 'p12' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
  {
    name: 'pipelined: the body of the second malformed',
    bytes: together(named(11), chunked('zz\r\n')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
  {
    name: 'pipelined: the second is a CONNECT',
    bytes: together(named(11), head('CONNECT plants.example:80 HTTP/1.1')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 405, error: 40500 },
    ],
    closes: true,
  },
  { name: 'HTTP/1.0 with Host', bytes: withLine('POST /plants HTTP/1.0'), ...ok, closes: true },
  {
    name: 'HTTP/1.0 without Host',
    bytes: request({ line: 'POST /plants HTTP/1.0', without: ['host'] }),
    ...ok,
    closes: true,
  },
  {
    name: 'HTTP/1.0 that asks to keep the connection',
    bytes: request({ line: 'POST /plants HTTP/1.0', headers: ['Connection: keep-alive'] }),
    ...ok,
    headers: { connection: 'keep-alive' },
  },
  { name: 'Connection: close', bytes: withHeaders('Connection: close'), ...ok, closes: true },
  { name: 'an empty Host', bytes: withHeaders('Host:'), ...ok },
  { name: 'a Host that is an IPv6 address', bytes: withHeaders('Host: [::1]:8080'), ...ok },
  { name: 'a chunked body', bytes: chunked(`${oneChunk}0\r\n\r\n`), ...ok },
  {
    name: 'a chunked body, a byte a chunk',
    bytes: chunked(`${[...record].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
    ...ok,
  },
  { name: 'chunk extensions', bytes: chunked(`${hexLength};a=b;c="d;e"\r\n${record}\r\n0;last\r\n\r\n`), ...ok },
  { name: 'a chunk size with leading zeros', bytes: chunked(`0000${oneChunk}000\r\n\r\n`), ...ok },
  { name: 'trailers are ignored', bytes: chunked(`${oneChunk}0\r\nAuthorization: Basic x\r\nHost: b\r\n\r\n`), ...ok },
  {
    name: 'the coding chunked in any case',
    bytes: request({ headers: ['Transfer-Encoding: Chunked'], body: `${oneChunk}0\r\n\r\n` }),
    ...ok,
  },
  { name: 'a body byte by byte', bytes: byteByByte(request(), record.length), ...ok },
  { name: 'a request byte by byte', bytes: byteByByte(request(), request().length), ...ok },
  {
    name: 'a character split between segments',
    bytes: splitCharacter('{"id":16,"name":"é𝄞"}'),
    ...ok,
    body: { name: 'é𝄞' },
  },
  {
    name: 'Expect: 100-continue, waited for',
    bytes: expecting(request({ headers: ['Expect: 100-continue'] }), true),
    ...ok,
    continues: 1,
  },
  {
    name: 'Expect: 100-Continue in another case, not waited for',
    bytes: expecting(request({ headers: ['Expect: 100-Continue'] }), false),
    ...ok,
    continues: 1,
  },
  {
    name: 'Expect: 100-continue of HTTP/1.0 is ignored (RFC 9110 section 10.1.1)',
    bytes: request({ line: 'POST /plants HTTP/1.0', headers: ['Expect: 100-continue'] }),
    ...ok,
    closes: true,
  },
  {
    name: 'several spaces before the request target, which a recipient may accept (RFC 9112 section 3)',
    bytes: request({ line: 'POST  /plants HTTP/1.1' }),
    ...ok,
  },
  { name: 'the scheme bearer in lower case', bytes: withHeaders(`Authorization: bearer ${token}`), ...ok },
  { name: 'the scheme BEARER in upper case', bytes: withHeaders(`Authorization: BEARER ${token}`), ...ok },
  { name: 'two spaces before the token', bytes: withHeaders(`Authorization: Bearer  ${token}`), ...ok },
  {
    name: 'header names in any case, no or much space around values',
    bytes: withHeaders(`AUTHORIZATION:${authorization}  \t `, 'content-TYPE:\t application/json', 'hOST:x'),
    ...ok,
  },
  {
    name: 'a connection stays open after each rejection',
    bytes: together(
      request({ body: '[]' }),
      request({ without: ['authorization'] }),
      withHeaders('Content-Type: text/plain'),
      withLine('POST /nothing HTTP/1.1'),
      withLine('PUT /plants HTTP/1.1'),
      request(),
    ),
    answers: [{ status: 400 }, { status: 401 }, { status: 415 }, { status: 404 }, { status: 405 }, ok],
  },
  {
    name: 'Upgrade: h2c is ignored',
    bytes: withHeaders('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    ...ok,
    closes: true,
  },
  {
    name: 'Upgrade: websocket is ignored',
    bytes: withHeaders('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='),
    ...ok,
    closes: true,
  },
  {
    name: 'a client that half-closes after the response',
    bytes: [request(), { answered: 1 }, { halfClose: true }],
    ...ok,
    closes: 'quietly',
  },
  {
    name: 'every header of a long section counts: a token after 1,500 others',
    bytes: request({
      without: ['authorization'],
      headers: [...Array<string>(1_500).fill('a:b'), `Authorization: ${authorization}`],
    }),
    ...ok,
  },
]

/** Requests whose method the document does not list for the path. */
const withoutOperation: Case[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'LINK', 'PURGE'].map((method) => ({
    method,
    name: `${method} /plants`,
    bytes: head(`${method} /plants HTTP/1.1`),
    error: 40500,
  })),
  { method: 'HEAD', name: 'HEAD /plants has no body', bytes: head('HEAD /plants HTTP/1.1') },
  { method: 'PUT', name: 'PUT with a body', bytes: withLine('PUT /plants HTTP/1.1'), error: 40500 },
  { method: 'GET', name: 'GET with a body', bytes: withLine('GET /plants?a HTTP/1.1') },
  { method: 'GET', name: 'GET in absolute form', bytes: head('GET http://a/plants HTTP/1.1') },
]
  .filter(({ method }) => !methodsAt('/plants').includes(method))
  .map(({ method, ...sent }) => ({
    ...sent,
    to: `${method} /plants`,
    status: 405,
    headers: { allow: methodsAt('/plants').join(', ') },
  }))

const malformedHttp: Case[] = [
  { name: 'TLS instead of HTTP', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ...malformed },
  { name: 'an unknown method', bytes: withLine('BREW /plants HTTP/1.1'), ...malformed },
  { name: 'a method in lower case', bytes: withLine('post /plants HTTP/1.1'), ...malformed },
  { name: 'a method with an invalid character', bytes: withLine('PO(T /plants HTTP/1.1'), ...malformed },
  { name: 'HTTP/3.7', bytes: withLine('POST /plants HTTP/3.7'), ...malformed },
  { name: 'HTTP/2.0', bytes: withLine('POST /plants HTTP/2.0'), ...malformed },
  { name: 'another protocol', bytes: withLine('POST /plants HTTQ/1.1'), ...malformed },
  { name: 'a version without a minor number', bytes: withLine('POST /plants HTTP/1'), ...malformed },
  { name: 'a space in the target', bytes: withLine('POST /pla nts HTTP/1.1'), ...malformed },
  { name: 'a NUL in the target', bytes: withLine('POST /plants\0 HTTP/1.1'), ...malformed },
  { name: 'a target without a slash', bytes: withLine('POST plants HTTP/1.1'), ...malformed },
  { name: 'no target', bytes: withLine('POST  HTTP/1.1'), ...malformed },
  {
    name: 'a header of 20 KB',
    bytes: withHeaders(`X-Long: ${'x'.repeat(20_000)}`),
    status: 431,
    error: 43100,
    closes: true,
  },
  {
    name: 'a target of 20 KB',
    bytes: withLine(`POST /${'x'.repeat(20_000)} HTTP/1.1`),
    status: 431,
    error: 43100,
    closes: true,
  },
  {
    name: '1,000 headers of 50 bytes',
    bytes: withHeaders(...Array<string>(1_000).fill(`X: ${'x'.repeat(47)}`)),
    status: 431,
    error: 43100,
    closes: true,
  },
  { name: 'a path of 10 KB', bytes: withLine(`POST /${'x'.repeat(10_000)} HTTP/1.1`), ...noPath },
  ...['/%', '/%zz', '/plants%2', '/%E0%A4%A', '/%ff'].map((target) => ({
    name: `a target that cannot be decoded: ${target}`,
    bytes: withLine(`POST ${target} HTTP/1.1`),
    status: 400,
    error: 40001,
  })),
  {
    name: 'an absolute form that cannot be decoded',
    bytes: withLine('POST http://a/%zz HTTP/1.1'),
    status: 400,
    error: 40001,
  },
  { name: 'an absolute form of another scheme', bytes: withLine('POST ftp://a/plants HTTP/1.1'), ...refused },
  {
    name: 'an absolute form without a host (RFC 9110 section 4.2.1)',
    bytes: withLine('POST http:///plants HTTP/1.1'),
    status: 400,
    closes: 'as announced',
  },
  { name: 'a fragment in the target (RFC 9112 section 3.2)', bytes: withLine('POST /plants#a HTTP/1.1'), ...refused },
  { name: 'HEAD of nothing has no body', bytes: head('HEAD /nothing HTTP/1.1'), to: 'HEAD /nothing', status: 404 },
  ...withoutOperation,
  { name: 'OPTIONS *', bytes: head('OPTIONS * HTTP/1.1'), to: 'OPTIONS *', ...noPath },
  {
    name: 'CONNECT',
    bytes: head('CONNECT plants.example:80 HTTP/1.1'),
    to: 'CONNECT -',
    status: 405,
    error: 40500,
    closes: true,
  },
  ...[
    '/',
    '/plants/',
    '//plants',
    '/Plants',
    '/plants/1',
    '/plants%2F',
    '/plants;a=b',
    '/x/../plants',
    '/__proto__',
    '/plants%00',
  ]
    .filter((target) => methodsAt(target).length === 0)
    .map((target) => ({ name: `nothing is at ${target}`, bytes: withLine(`POST ${target} HTTP/1.1`), ...noPath })),
  { name: 'an absolute form without a path', bytes: withLine('POST http://plants.example HTTP/1.1'), ...noPath },
  { name: 'truncated in the request line', bytes: ['POST /pla', { halfClose: true }], ...malformed },
  {
    name: 'truncated in the headers',
    bytes: ['POST /plants HTTP/1.1\r\nHost: a\r\n', { halfClose: true }],
    ...malformed,
  },
  { name: 'truncated in the body', bytes: [request().subarray(0, -5), { halfClose: true }], ...malformed },
  {
    name: 'truncated in a chunked body',
    bytes: [request({ headers: ['Transfer-Encoding: chunked'], body: oneChunk }), { halfClose: true }],
    ...malformed,
  },
  {
    name: 'truncated after a valid request',
    bytes: [together(named(11), Buffer.from('POST /pl')), { answered: 1 }, { halfClose: true }],
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
  {
    name: 'Expect: something else',
    bytes: withHeaders('Expect: something-else'),
    status: 417,
    error: 41700,
    closes: true,
  },
  {
    name: 'Expect: something else, pipelined',
    bytes: together(named(11), withHeaders('Expect: 200-ok')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 417, error: 41700 },
    ],
    closes: true,
  },
]

const tooSlow = { status: 408, error: 40800, closes: true } as const
const slow: Case[] = [
  { name: 'slow headers', bytes: 'POST /plants HTTP/1.1\r\nHost: a\r\nX-', ...tooSlow },
  { name: 'a slow request line', bytes: 'POST /pl', ...tooSlow },
  { name: 'a connection without a request', bytes: '', ...tooSlow },
  {
    name: 'headers that arrive slowly',
    bytes: [
      'POST /plants HTTP/1.1\r\n',
      ...Array(8)
        .fill([{ pause: 60 }, 'X-Slow: a\r\n'])
        .flat(),
    ],
    ...tooSlow,
  },
  { name: 'a slow body', bytes: request().subarray(0, -1), ...tooSlow },
  { name: 'a slow chunked body', bytes: chunked(oneChunk), ...tooSlow },
  {
    name: 'a slow request after a valid one',
    bytes: together(named(11), Buffer.from('POST /pl')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 408, error: 40800 },
    ],
    closes: true,
  },
  {
    name: 'a rejected request whose body never arrives gets one response',
    bytes: request({ without: ['authorization'] }).subarray(0, -1),
    answers: [{ status: 401, error: 40100 }],
    closes: 'quietly',
  },
]

/** Cases for a store that takes 200 ms: a later request fails first, but its response must wait for its turn. */
const behindSlowStore: Case[] = [
  {
    name: 'malformed bytes, and more of them, after a request without a response yet',
    bytes: [
      together(named(11), Buffer.from('BROKEN\r\n\r\n')),
      { pause: 50 },
      'MORE\r\n\r\n',
      { pause: 50 },
      'AND MORE\r\n\r\n',
    ],
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
  {
    name: 'pipelined: a slow request, then a rejected one',
    bytes: together(named(11), request({ without: ['authorization'] }), named(12)),
    answers: [{ ...ok, body: { name: 'p11' } }, { status: 401 }, { ...ok, body: { name: 'p12' } }],
  },
  {
    name: 'pipelined: a slow request, then a CONNECT',
    bytes: together(named(11), head('CONNECT plants.example:80 HTTP/1.1')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 405, error: 40500 },
    ],
    closes: true,
  },
  {
    name: 'pipelined: a slow request, then a rejected one with a malformed body',
    bytes: [
      together(named(11), request({ headers: ['Transfer-Encoding: chunked'], without: ['authorization'], body: '' })),
      { pause: 50 },
      'zz\r\n',
    ],
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 401, error: 40100 },
    ],
    closes: 'quietly',
  },
  {
    name: 'pipelined: a slow request, then one with a malformed body',
    bytes: together(named(11), chunked('zz\r\n')),
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  },
]

function byteByByte(all: Buffer, last: number): Step[] {
  const split = all.length - last
  return [all.subarray(0, split), ...Array.from(all.subarray(split), (byte) => Buffer.of(byte))]
}

function splitCharacter(body: string): Step[] {
  const all = request({ body })
  return [all.subarray(0, -3), { pause: 5 }, all.subarray(-3)]
}

function expecting(all: Buffer, wait: boolean): Step[] {
  const at = all.indexOf('\r\n\r\n') + 4
  return [all.subarray(0, at), ...(wait ? [{ continued: true } as const] : []), all.subarray(at)]
}

overTheWire(t, (t, start) => {
  t.test('every form of well-formed request is served', async (t) => {
    const { listen, log, create } = await start(t)
    t.same(
      await runCases(t, await listen(), wellFormed),
      [],
      'every response has a Date header (RFC 9110 section 6.6.1)',
    )
    t.equal((await create({ id: 1, name: 'raw' })).status, 200)
    t.same(log, [])
  })

  t.test('malformed requests, other methods and other paths get their errors', async (t) => {
    const { listen, log, create } = await start(t)
    t.same(
      await runCases(t, await listen(), malformedHttp),
      [],
      'every response has a Date header (RFC 9110 section 6.6.1)',
    )
    t.equal((await create({ id: 1, name: 'raw' })).status, 200)
    t.same(log, [])
  })

  t.test('slow requests get 408', async (t) => {
    const { listen, log, create } = await start(t, { limits: { headersTime: 300, requestTime: 600 } })
    t.same(await runCases(t, await listen(), slow), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
    t.equal((await create({ id: 1, name: 'raw' })).status, 200)
    t.same(log, [])
  })

  t.test(
    'pipelined responses keep their order when a later request fails before a slow response is sent',
    async (t) => {
      const { listen, log } = await start(t, { storeTime: 200 })
      await runCases(t, await listen(), behindSlowStore)
      t.same(log, [])
    },
  )

  t.test('clients that keep using a closing connection are disconnected', async (t) => {
    const { connections: count, listen } = await start(t)
    if (count === undefined) return t.pass('the system does not show the connections of another process')
    const port = await listen()
    const requests = {
      'malformed bytes': Buffer.from('BROKEN\r\n\r\n'),
      'a truncated body': request().subarray(0, -1),
      'Connection: close': withHeaders('Connection: close'),
      'Expect: something else': withHeaders('Expect: something-else'),
      CONNECT: head('CONNECT a:80 HTTP/1.1'),
    }
    for (const [name, bytes] of Object.entries(requests)) {
      await t.test(name, async (t) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
        t.teardown(() => socket.destroy())
        socket.on('error', () => {}).resume()
        socket.write(bytes)
        if (name === 'a truncated body') socket.end()
        else await new Promise((resolve) => socket.once('end', resolve))
        for (let waited = 0; (await count()) > 0 && waited < 2_500; waited += 50) await sleep(50)
        t.equal(await count(), 0, 'the service closes the connection although the client keeps its side open')
      })
    }
  })

  t.test('connection resets leave the service intact', async (t) => {
    const beginnings = {
      'a request': request(),
      'half a body': request().subarray(0, -3),
      'half a header': request().subarray(0, 30),
      'malformed bytes': Buffer.from('BROKEN\r\n\r\n'),
      'Expect: something else': withHeaders('Expect: something-else'),
      // CONNECT comes last: if it crashes the service, the test ends.
      CONNECT: head('CONNECT a:80 HTTP/1.1'),
    }
    for (const [name, bytes] of Object.entries(beginnings)) {
      await t.test(name, async (t) => {
        const { listen, log, create } = await start(t)
        const port = await listen()
        for (const pause of [0, 0, 1, 5]) await reset(port, bytes, pause)
        await sleep(20)
        t.equal((await create({ id: 1, name: 'raw' })).status, 200, 'the service keeps serving')
        t.same(log, [])
      })
    }
  })
})

function reset(port: number, bytes: Buffer, pause: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, async () => {
      socket.write(bytes)
      await (pause > 0 ? sleep(pause) : new Promise(setImmediate))
      socket.resetAndDestroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}
