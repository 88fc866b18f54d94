import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { methodsAt } from '../support/contract.ts'
import { type Case, record, request, row, runCases, type Step } from '../support/raw-http.ts'
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
  row('a plain create', request(), { ...ok, headers: { 'content-length': '14' } }),
  row('a target in absolute form', withLine('POST http://plants.example/plants HTTP/1.1')),
  row('a scheme in upper case', withLine('POST HTTP://plants.example:80/plants?a=b HTTP/1.1')),
  row('a query string is ignored', withLine('POST /plants?id=7&name=%20&%zz HTTP/1.1')),
  row('an empty query string', withLine('POST /plants? HTTP/1.1')),
  row('a path with needless percent-encoding', withLine('POST /%70lants HTTP/1.1')),
  row('an empty line before the request', together(Buffer.from('\r\n'), request())),
  row('pipelined requests are answered in order', together(...[11, 12, 13, 14, 15].map(named)), {
    answers: [11, 12, 13, 14, 15].map((id) => ({ ...ok, body: { name: `p${id}` } })),
  }),
  row('pipelined: a rejected request between two valid ones', together(named(11), request({ body: '{' }), named(12)), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40002 },
      { ...ok, body: { name: 'p12' } },
    ],
  }),
  row('pipelined: the second malformed', together(named(11), Buffer.from('BROKEN\r\n\r\n')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  }),
  row('pipelined: the third malformed', together(named(11), named(12), Buffer.from('BROKEN\r\n\r\n')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { ...ok, body: { name: 'p12' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  }),
  row('pipelined: the body of the second malformed', together(named(11), chunked('zz\r\n')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  }),
  row('pipelined: the second is a CONNECT', together(named(11), head('CONNECT plants.example:80 HTTP/1.1')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 405, error: 40500 },
    ],
    closes: true,
  }),
  row('HTTP/1.0 with Host', withLine('POST /plants HTTP/1.0'), { ...ok, closes: true }),
  row('HTTP/1.0 without Host', request({ line: 'POST /plants HTTP/1.0', without: ['host'] }), { ...ok, closes: true }),
  row(
    'HTTP/1.0 that asks to keep the connection',
    request({ line: 'POST /plants HTTP/1.0', headers: ['Connection: keep-alive'] }),
    { ...ok, headers: { connection: 'keep-alive' } },
  ),
  row('Connection: close', withHeaders('Connection: close'), { ...ok, closes: true }),
  row('an empty Host', withHeaders('Host:')),
  row('a Host that is an IPv6 address', withHeaders('Host: [::1]:8080')),
  row('a chunked body', chunked(`${oneChunk}0\r\n\r\n`)),
  row('a chunked body, a byte a chunk', chunked(`${[...record].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`)),
  row('chunk extensions', chunked(`${hexLength};a=b;c="d;e"\r\n${record}\r\n0;last\r\n\r\n`)),
  row('a chunk size with leading zeros', chunked(`0000${oneChunk}000\r\n\r\n`)),
  row('trailers are ignored', chunked(`${oneChunk}0\r\nAuthorization: Basic x\r\nHost: b\r\n\r\n`)),
  row(
    'the coding chunked in any case',
    request({ headers: ['Transfer-Encoding: Chunked'], body: `${oneChunk}0\r\n\r\n` }),
  ),
  row('a body byte by byte', byteByByte(request(), record.length)),
  row('a request byte by byte', byteByByte(request(), request().length)),
  row('a character split between segments', splitCharacter('{"id":16,"name":"é𝄞"}'), { ...ok, body: { name: 'é𝄞' } }),
  row('Expect: 100-continue, waited for', expecting(request({ headers: ['Expect: 100-continue'] }), true), {
    ...ok,
    continues: 1,
  }),
  row(
    'Expect: 100-Continue in another case, not waited for',
    expecting(request({ headers: ['Expect: 100-Continue'] }), false),
    { ...ok, continues: 1 },
  ),
  row(
    'Expect: 100-continue of HTTP/1.0 is ignored (RFC 9110 section 10.1.1)',
    request({ line: 'POST /plants HTTP/1.0', headers: ['Expect: 100-continue'] }),
    { ...ok, closes: true },
  ),
  row(
    'several spaces before the request target, which a recipient may accept (RFC 9112 section 3)',
    request({ line: 'POST  /plants HTTP/1.1' }),
  ),
  row('the scheme bearer in lower case', withHeaders(`Authorization: bearer ${token}`)),
  row('the scheme BEARER in upper case', withHeaders(`Authorization: BEARER ${token}`)),
  row('two spaces before the token', withHeaders(`Authorization: Bearer  ${token}`)),
  row(
    'header names in any case, no or much space around values',
    withHeaders(`AUTHORIZATION:${authorization}  \t `, 'content-TYPE:\t application/json', 'hOST:x'),
  ),
  row(
    'a connection stays open after each rejection',
    together(
      request({ body: '[]' }),
      request({ without: ['authorization'] }),
      withHeaders('Content-Type: text/plain'),
      withLine('POST /nothing HTTP/1.1'),
      withLine('PUT /plants HTTP/1.1'),
      request(),
    ),
    { answers: [{ status: 400 }, { status: 401 }, { status: 415 }, { status: 404 }, { status: 405 }, ok] },
  ),
  row(
    'Upgrade: h2c is ignored',
    withHeaders('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    { ...ok, closes: true },
  ),
  row(
    'Upgrade: websocket is ignored',
    withHeaders('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='),
    { ...ok, closes: true },
  ),
  row('a client that half-closes after the response', [request(), { answered: 1 }, { halfClose: true }], {
    ...ok,
    closes: 'quietly',
  }),
  row(
    'every header of a long section counts: a token after 1,500 others',
    request({
      without: ['authorization'],
      headers: [...Array<string>(1_500).fill('a:b'), `Authorization: ${authorization}`],
    }),
  ),
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
  row('TLS instead of HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', malformed),
  row('an unknown method', withLine('BREW /plants HTTP/1.1'), malformed),
  row('a method in lower case', withLine('post /plants HTTP/1.1'), malformed),
  row('a method with an invalid character', withLine('PO(T /plants HTTP/1.1'), malformed),
  row('HTTP/3.7', withLine('POST /plants HTTP/3.7'), malformed),
  row('HTTP/2.0', withLine('POST /plants HTTP/2.0'), malformed),
  row('another protocol', withLine('POST /plants HTTQ/1.1'), malformed),
  row('a version without a minor number', withLine('POST /plants HTTP/1'), malformed),
  row('a space in the target', withLine('POST /pla nts HTTP/1.1'), malformed),
  row('a NUL in the target', withLine('POST /plants\0 HTTP/1.1'), malformed),
  row('a target without a slash', withLine('POST plants HTTP/1.1'), malformed),
  row('no target', withLine('POST  HTTP/1.1'), malformed),
  row('a header of 20 KB', withHeaders(`X-Long: ${'x'.repeat(20_000)}`), { status: 431, error: 43100, closes: true }),
  row('a target of 20 KB', withLine(`POST /${'x'.repeat(20_000)} HTTP/1.1`), {
    status: 431,
    error: 43100,
    closes: true,
  }),
  row('1,000 headers of 50 bytes', withHeaders(...Array<string>(1_000).fill(`X: ${'x'.repeat(47)}`)), {
    status: 431,
    error: 43100,
    closes: true,
  }),
  row('a path of 10 KB', withLine(`POST /${'x'.repeat(10_000)} HTTP/1.1`), noPath),
  ...['/%', '/%zz', '/plants%2', '/%E0%A4%A', '/%ff'].map((target) =>
    row(`a target that cannot be decoded: ${target}`, withLine(`POST ${target} HTTP/1.1`), {
      status: 400,
      error: 40001,
    }),
  ),
  row('an absolute form that cannot be decoded', withLine('POST http://a/%zz HTTP/1.1'), { status: 400, error: 40001 }),
  row('an absolute form of another scheme', withLine('POST ftp://a/plants HTTP/1.1'), refused),
  row('an absolute form without a host (RFC 9110 section 4.2.1)', withLine('POST http:///plants HTTP/1.1'), {
    status: 400,
    closes: 'as announced',
  }),
  row('a fragment in the target (RFC 9112 section 3.2)', withLine('POST /plants#a HTTP/1.1'), refused),
  row('HEAD of nothing has no body', head('HEAD /nothing HTTP/1.1'), { to: 'HEAD /nothing', status: 404 }),
  ...withoutOperation,
  row('OPTIONS *', head('OPTIONS * HTTP/1.1'), { to: 'OPTIONS *', ...noPath }),
  row('CONNECT', head('CONNECT plants.example:80 HTTP/1.1'), {
    to: 'CONNECT -',
    status: 405,
    error: 40500,
    closes: true,
  }),
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
    .map((target) => row(`nothing is at ${target}`, withLine(`POST ${target} HTTP/1.1`), noPath)),
  row('an absolute form without a path', withLine('POST http://plants.example HTTP/1.1'), noPath),
  row('truncated in the request line', ['POST /pla', { halfClose: true }], malformed),
  row('truncated in the headers', ['POST /plants HTTP/1.1\r\nHost: a\r\n', { halfClose: true }], malformed),
  row('truncated in the body', [request().subarray(0, -5), { halfClose: true }], malformed),
  row(
    'truncated in a chunked body',
    [request({ headers: ['Transfer-Encoding: chunked'], body: oneChunk }), { halfClose: true }],
    malformed,
  ),
  row(
    'truncated after a valid request',
    [together(named(11), Buffer.from('POST /pl')), { answered: 1 }, { halfClose: true }],
    {
      answers: [
        { ...ok, body: { name: 'p11' } },
        { status: 400, error: 40000 },
      ],
      closes: true,
    },
  ),
  row('Expect: something else', withHeaders('Expect: something-else'), { status: 417, error: 41700, closes: true }),
  row('Expect: something else, pipelined', together(named(11), withHeaders('Expect: 200-ok')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 417, error: 41700 },
    ],
    closes: true,
  }),
]

const tooSlow = { status: 408, error: 40800, closes: true } as const
const slow: Case[] = [
  row('slow headers', 'POST /plants HTTP/1.1\r\nHost: a\r\nX-', tooSlow),
  row('a slow request line', 'POST /pl', tooSlow),
  row('a connection without a request', '', tooSlow),
  row(
    'headers that arrive slowly',
    [
      'POST /plants HTTP/1.1\r\n',
      ...Array(8)
        .fill([{ pause: 60 }, 'X-Slow: a\r\n'])
        .flat(),
    ],
    tooSlow,
  ),
  row('a slow body', request().subarray(0, -1), tooSlow),
  row('a slow chunked body', chunked(oneChunk), tooSlow),
  row('a slow request after a valid one', together(named(11), Buffer.from('POST /pl')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 408, error: 40800 },
    ],
    closes: true,
  }),
  row(
    'a rejected request whose body never arrives gets one response',
    request({ without: ['authorization'] }).subarray(0, -1),
    { answers: [{ status: 401, error: 40100 }], closes: 'quietly' },
  ),
]

/** Cases for a store that takes 200 ms: a later request fails first, but its response must wait for its turn. */
const behindSlowStore: Case[] = [
  row(
    'malformed bytes, and more of them, after a request without a response yet',
    [
      together(named(11), Buffer.from('BROKEN\r\n\r\n')),
      { pause: 50 },
      'MORE\r\n\r\n',
      { pause: 50 },
      'AND MORE\r\n\r\n',
    ],
    {
      answers: [
        { ...ok, body: { name: 'p11' } },
        { status: 400, error: 40000 },
      ],
      closes: true,
    },
  ),
  row(
    'pipelined: a slow request, then a rejected one',
    together(named(11), request({ without: ['authorization'] }), named(12)),
    { answers: [{ ...ok, body: { name: 'p11' } }, { status: 401 }, { ...ok, body: { name: 'p12' } }] },
  ),
  row('pipelined: a slow request, then a CONNECT', together(named(11), head('CONNECT plants.example:80 HTTP/1.1')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 405, error: 40500 },
    ],
    closes: true,
  }),
  row(
    'pipelined: a slow request, then a rejected one with a malformed body',
    [
      together(named(11), request({ headers: ['Transfer-Encoding: chunked'], without: ['authorization'], body: '' })),
      { pause: 50 },
      'zz\r\n',
    ],
    {
      answers: [
        { ...ok, body: { name: 'p11' } },
        { status: 401, error: 40100 },
      ],
      closes: 'quietly',
    },
  ),
  row('pipelined: a slow request, then one with a malformed body', together(named(11), chunked('zz\r\n')), {
    answers: [
      { ...ok, body: { name: 'p11' } },
      { status: 400, error: 40000 },
    ],
    closes: true,
  }),
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

  t.test('pipelined responses keep their order when a later request fails before a slow response', async (t) => {
    const { listen, log } = await start(t, { storeTime: 200 })
    await runCases(t, await listen(), behindSlowStore)
    t.same(log, [])
  })

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
    for (const [name, bytes] of Object.entries(requests))
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
    for (const [name, bytes] of Object.entries(beginnings))
      await t.test(name, async (t) => {
        const { listen, log, create } = await start(t)
        const port = await listen()
        for (const pause of [0, 0, 1, 5]) await reset(port, bytes, pause)
        await sleep(20)
        t.equal((await create({ id: 1, name: 'raw' })).status, 200, 'the service keeps serving')
        t.same(log, [])
      })
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
