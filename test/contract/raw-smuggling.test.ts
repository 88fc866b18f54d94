import t from 'tap'
import { methodsAt } from '../support/contract.ts'
import { type Bytes, type Case, record, request, row, runCases } from '../support/raw-http.ts'
import { overTheWire, type WireService } from '../support/wire-service.ts'

const hexLength = record.length.toString(16)
const chunk = `${hexLength}\r\n${record}\r\n`
const last = '0\r\n\r\n'
const [length, chunked] = [`Content-Length: ${record.length}`, 'Transfer-Encoding: chunked']

/** Returns a smuggled request, which must never be served. Its plant's name identifies the case that let it through. */
const hidden = (name: string) => request({ body: JSON.stringify({ id: 666, name }) })
const plain = (...headers: string[]) => request({ headers })
const coded = (...headers: string[]) => request({ headers, without: ['content-length'], body: chunk + last })
const coding = (value: string) => coded(`Transfer-Encoding: ${value}`)
const chunks = (body: string) => request({ headers: [chunked], body })
const line = (text: string) => request({ line: text })
/** Returns a request with more header text and with `ends` instead of the empty line between headers and body. */
const ending = (headers: string, ends: string) =>
  Buffer.from(request().toString('latin1').replace('\r\n\r\n', `\r\n${headers}${ends}`), 'latin1')

const bothLengths: Record<string, Bytes> = {
  'Content-Length, then Transfer-Encoding': coded(length, chunked),
  'Transfer-Encoding, then Content-Length': coded(chunked, length),
  'both headers, in lower case': coded(length.toLowerCase(), chunked.toLowerCase()),
  'both headers, in upper case': coded(chunked.toUpperCase(), length.toUpperCase()),
  'Content-Length 0 and Transfer-Encoding': coded('Content-Length: 0', chunked),
  'Content-Length and the coding identity': plain(length, 'Transfer-Encoding: identity'),
  'both headers in HTTP/1.0': request({
    line: 'POST /plants HTTP/1.0',
    headers: [chunked, length, 'Connection: keep-alive'],
  }),
}

const codings: Record<string, Bytes> = {
  ...Object.fromEntries(
    [
      'identity',
      'xchunked',
      'chunkedx',
      'chunked, identity',
      'identity, chunked',
      'gzip, chunked',
      'chunked, gzip',
      'chunked, chunked',
      'chunked,',
      ', chunked',
      '"chunked"',
      'chunked;q=1',
      'chunked\x0b',
      '\x0bchunked',
      'chunked\x0c',
      'chunked\xa0',
      'chunked\0',
      '\r\n chunked',
      '',
    ].map((value) => [`the coding ${JSON.stringify(value)}`, coding(value)]),
  ),
  'the coding chunked twice': coded(chunked, chunked),
  'chunked, then identity': coded(chunked, 'Transfer-Encoding: identity'),
  'identity, then chunked': coded('Transfer-Encoding: identity', chunked),
  'an unknown coding, then chunked': coded('Transfer-Encoding: x', chunked),
  'an empty coding, then chunked': coded('Transfer-Encoding:', chunked),
  'chunked, then an empty coding': coded(chunked, 'Transfer-Encoding:'),
  'a space before the colon of Transfer-Encoding': coded('Transfer-Encoding : chunked'),
  'the same with Content-Length': plain('Transfer-Encoding : chunked', length),
  'a space before Transfer-Encoding': plain(` ${chunked}`, length),
  'a tab before Transfer-Encoding': plain(`\t${chunked}`, length),
  'Transfer-Encoding after a bare LF': plain(`X: a\n${chunked}`, length),
  'Transfer-Encoding after a bare CR': plain(`X: a\r${chunked}`, length),
  'Transfer-Encoding after a NUL': plain(`\0${chunked}`, length),
  'Transfer-Encoding in HTTP/1.0 (RFC 9112 section 6.1)': request({
    line: 'POST /plants HTTP/1.0',
    headers: [chunked, 'Connection: keep-alive'],
    body: chunk + last,
  }),
}

const lengths: Record<string, Bytes> = {
  'two equal lengths': plain(length, length),
  'two different lengths': plain(length, 'Content-Length: 0'),
  'two different lengths, in another case': plain(length, 'CONTENT-LENGTH: 3'),
  'a space before the colon of Content-Length': plain(`Content-Length : ${record.length}`),
  ...Object.fromEntries(
    [
      `${record.length}, ${record.length}`,
      `${record.length}, 0`,
      `+${record.length}`,
      `-${record.length}`,
      '-0',
      '0x15',
      '15h',
      '2e1',
      '21.0',
      '2 1',
      '"21"',
      '21;',
      '21\x0b',
      '\xa021',
      '\r\n 21',
      '2\r\n 1',
      '18446744073709551616',
      '18446744073709551637',
      '',
    ].map((value) => [`the length ${JSON.stringify(value)}`, plain(`Content-Length: ${value}`)]),
  ),
}

const hosts: Record<string, Bytes> = {
  'no Host (RFC 9112 section 3.2)': request({ without: ['host'] }),
  'no Host with an absolute form': request({ line: 'POST http://a/plants HTTP/1.1', without: ['host'] }),
  'two equal Hosts': plain('Host: a', 'Host: a'),
  'two different Hosts': plain('Host: a', 'hOST: b'),
  'two Hosts in HTTP/1.0': request({
    line: 'POST /plants HTTP/1.0',
    headers: ['Host: a', 'Host: b', 'Connection: keep-alive'],
  }),
  'a second Host after 1,500 headers': plain('Host: a', ...Array<string>(1_500).fill('a:b'), 'Host: b'),
  'two Hosts with an absolute form': request({
    line: 'POST http://a/plants HTTP/1.1',
    headers: ['Host: a', 'Host: b'],
  }),
  'a space before the colon of Host': plain('Host : a'),
  'a folded Host': plain('Host:\r\n a'),
  'a Host with a space': plain('Host: a b'),
  'a Host with a path': plain('Host: a/b'),
  'a Host that is a list': plain('Host: a, b'),
  'a Host with a user name': plain('Host: a@b'),
}

const lines: Record<string, Bytes> = {
  'obs-fold': plain('X-Folded: a\r\n b'),
  'obs-fold with a tab': plain('X-Folded: a\r\n\tb'),
  'obs-fold before the first header': line('POST /plants HTTP/1.1\r\n X: a'),
  'a header folded into Transfer-Encoding': plain(`X: a\r\n ${chunked}`, length),
  'a bare LF after the request line': Buffer.from(request().toString('latin1').replace('\r\n', '\n'), 'latin1'),
  'a bare CR after the request line': Buffer.from(request().toString('latin1').replace('\r\n', '\r'), 'latin1'),
  'a bare LF after a header': ending('X: a\n', '\r\n'),
  'a bare CR in a header': ending('X: a\rb\r\n', '\r\n'),
  'CR CR LF after a header': ending('X: a\r\r\n', '\r\n'),
  'a bare LF after each line': Buffer.from(request().toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  'a head that ends in LF': ending('', '\n'),
  'a head that ends in CR': ending('', '\r'),
  'a head that ends in CR CR LF': ending('', '\r\r\n'),
  'a NUL in a header': plain('X-Nul: a\0b'),
  'a NUL in a header name': plain('X\0: a'),
  'a control character in a header': plain('X: a\x01b'),
  'a control character in a header name': plain('X\x01: a'),
  'a space before the colon': plain('X-Space : a'),
  'a header without a name': plain(': a'),
  'a header without a colon': plain('nothing'),
  'a header name in quotes': plain('"X": a'),
  'HTTP/0.9': 'POST /plants\r\n\r\n',
  'HTTP/0.9 with a bare LF': 'GET /plants\n',
  'HTTP/1.2': line('POST /plants HTTP/1.2'),
  'HTTP/1.01': line('POST /plants HTTP/1.01'),
  'a space after the version': line('POST /plants HTTP/1.1 '),
  'tabs in the request line': line('POST\t/plants\tHTTP/1.1'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
}

const chunkFraming: Record<string, Bytes> = {
  ...Object.fromEntries(
    [
      'zz',
      '-1',
      `+${hexLength}`,
      `0x${hexLength}`,
      `${hexLength}h`,
      '1_5',
      '',
      ` ${hexLength}`,
      `${hexLength} `,
      `${hexLength}\t`,
      ';a',
      '10000000000000015',
      'fffffffffffffffff',
      `${hexLength};a\rb`,
      `${hexLength};a\0b`,
      `${hexLength};a\n`,
      `${hexLength};a\nb`,
      `${hexLength};a=b\n`,
      `${hexLength};a="\n"`,
      `${hexLength};a="\r\n"`,
      `${hexLength};${'a'.repeat(20_000)}`,
    ].map((size) => [`the chunk size ${JSON.stringify(size.slice(0, 20))}`, chunks(`${size}\r\n${record}\r\n${last}`)]),
  ),
  'a bare LF after a chunk size': chunks(`${hexLength}\n${record}\r\n${last}`),
  'a bare CR after a chunk size': chunks(`${hexLength}\r${record}\r\n${last}`),
  'a bare LF after a chunk': chunks(`${hexLength}\r\n${record}\n${last}`),
  'a bare CR after a chunk': chunks(`${hexLength}\r\n${record}\r${last}`),
  'nothing after a chunk': chunks(`${hexLength}\r\n${record}${last}`),
  'something else after a chunk': chunks(`${hexLength}\r\n${record}XX${last}`),
  'a bare LF after the last chunk': chunks(`${chunk}0\n\r\n`),
  'a bare LF after the trailers': chunks(`${chunk}0\r\n\n`),
  'nothing after the last chunk': chunks(`${chunk}0\r\n`),
  'a trailer Content-Length (RFC 9110 section 6.5.1)': chunks(`${chunk}0\r\nContent-Length: 3\r\n\r\n`),
  'a trailer Transfer-Encoding': chunks(`${chunk}0\r\nTransfer-Encoding: chunked\r\n\r\n`),
  'a folded trailer': chunks(`${chunk}0\r\nX: a\r\n b\r\n\r\n`),
  'a trailer with a bare LF': chunks(`${chunk}0\r\nX: a\n\r\n`),
  'a trailer without a colon': chunks(`${chunk}0\r\nnothing\r\n\r\n`),
}

const malformed = { status: 400, error: 40000, closes: true } as const
const behind = (requests: Record<string, Bytes>, expected: Partial<Case> = malformed): Case[] =>
  Object.entries(requests).map(([name, bytes]) =>
    row(name, Buffer.concat([Buffer.from(bytes as string, 'latin1'), hidden(name)]), expected),
  )

const embedded = hidden('in a body')
const inBody = { body: embedded, headers: [`Content-Length: ${embedded.length}`] }
const inChunk = {
  body: Buffer.concat([Buffer.from(`${embedded.length.toString(16)}\r\n`), embedded, Buffer.from(`\r\n${last}`)]),
}
const upgrade = ['Connection: Upgrade', 'Upgrade: h2c']

/** Requests with valid framing, which are served or are rejected for another reason. */
const framed: Case[] = [
  ...behind(
    { CONNECT: 'CONNECT plants.example:80 HTTP/1.1\r\nHost: a\r\n\r\n' },
    { to: 'CONNECT -', status: 405, error: 40500, closes: true },
  ),
  ...behind({ 'Expect: something else': plain('Expect: x') }, { status: 417, error: 41700, closes: true }),
  ...behind(
    { 'a length of 2^64 - 1': plain('Content-Length: 18446744073709551615') },
    { status: 413, error: 41300, closes: true },
  ),
  ...behind({ 'Connection: close': plain('Connection: close') }, { status: 200, closes: true }),
  ...behind(
    { 'no length: there is no body (RFC 9112 section 6.3)': request({ without: ['content-length'] }) },
    { answers: [{ status: 400, error: 40002 }, malformed], closes: true },
  ),
  methodsAt('/plants').includes('GET')
    ? row('a body of GET', request({ line: 'GET /no HTTP/1.1', ...inBody }), { to: 'GET /no', status: 404 })
    : row('a body of GET', request({ line: 'GET /plants HTTP/1.1', ...inBody }), { to: 'GET /plants', status: 405 }),
  row('the body of a rejected request', request({ without: ['authorization'], ...inBody }), { status: 401 }),
  row('a body that is not JSON', request(inBody), { status: 400, error: 40002 }),
  row('a chunk that is not JSON', request({ headers: [chunked], ...inChunk }), { status: 400, error: 40002 }),
  row('a length with leading zeros is decimal', plain(`Content-Length: 000${record.length}`), { status: 200 }),
  row('tabs and spaces before chunked', coding('\t chunked'), { status: 200 }),
  row('Transfer_Encoding is another header', plain('Transfer_Encoding: chunked', length), { status: 200 }),
  row(
    'an absolute form with another Host (RFC 9112 section 3.2.2)',
    request({ line: 'POST http://b/plants HTTP/1.1', headers: ['Host: a'] }),
    { status: 200 },
  ),
  row('Upgrade: h2c, then another request', Buffer.concat([plain(...upgrade), hidden('behind h2c')]), {
    status: 200,
    closes: true,
  }),
  row(
    'Upgrade: h2c, then another request whose body comes later',
    [Buffer.concat([plain(...upgrade), request({ ...inBody, body: '' })]), { answered: 1 }, embedded],
    { status: 200, closes: true },
  ),
]

/** Returns the names of the plants that the store was asked to create. */
const namesOf = (created: WireService['created']) => created().map(({ name }) => name)

overTheWire(t, (t, start) => {
  t.test('ambiguous framing gets one 400, and nothing behind it is served', async (t) => {
    const groups = { bothLengths, codings, lengths, hosts, lines, chunkFraming }
    for (const [name, requests] of Object.entries(groups))
      await t.test(name, async (t) => {
        const { listen, log, created } = await start(t)
        await runCases(t, await listen(), behind(requests))
        const names = namesOf(created)
        t.same(names, [], 'nothing reaches the store')
        t.same(log, [])
      })
  })

  t.test('well-framed requests are not split', async (t) => {
    const { listen, log, created } = await start(t)
    await runCases(t, await listen(), framed)
    const names = namesOf(created)
    t.same(new Set(names), new Set(['raw', 'probe']), 'no smuggled request reaches the store')
    t.same(log, [])
  })

  t.test('a chunk of 2^63 bytes that never ends gets 408', async (t) => {
    const { listen, created } = await start(t, { limits: { headersTime: 300, requestTime: 600 } })
    const endless = behind(
      { 'a chunk of 2^63 bytes': chunks(`8000000000000000\r\n${record}`) },
      { status: 408, error: 40800, closes: true },
    )
    await runCases(t, await listen(), endless)
    const names = namesOf(created)
    t.same(names, [])
  })
})
