import t from 'tap'
import { type Case, record, request, row, runCases, type Step } from '../support/raw-http.ts'
import { authorization, token } from '../support/test-app.ts'
import { overTheWire } from '../support/wire-service.ts'

const missing = { status: 401, error: 40100 }
const invalid = { status: 401, error: 40101 }
const notSupported = { status: 415, error: 41500, headers: { accept: 'application/json' } }
const encoded = { status: 415, error: 41501, headers: { 'accept-encoding': 'identity' } }
const tooLarge = { status: 413, error: 41300 }
const notJson = { status: 400, error: 40002 }
const ok = { status: 200 }

const wrong = 'Authorization: Bearer wrong'
const withHeaders = (...headers: string[]) => request({ headers })
const typed = (contentType: string) => withHeaders(`Content-Type: ${contentType}`)
/** Returns a request that ends after its header section: no byte of the body follows. */
const announced = (length: number, ...headers: string[]) =>
  request({ headers: [`Content-Length: ${length}`, ...headers], body: '' })
const announcedChunked = (...headers: string[]) =>
  request({ headers: ['Transfer-Encoding: chunked', ...headers], body: '' })
const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`

const schemes: Case[] = [
  row('no Authorization', request({ without: ['authorization'] }), missing),
  row('an empty Authorization', withHeaders('Authorization:'), missing),
  row('Basic', withHeaders('Authorization: Basic YTpi'), missing),
  row('Bearer alone', withHeaders('Authorization: Bearer'), missing),
  row('Bearer and spaces', withHeaders('Authorization: Bearer   '), missing),
  row('Bearer and a no-break space', withHeaders('Authorization: Bearer \xa0'), { status: 401 }),
  row('Bearer, a no-break space and the token', withHeaders(`Authorization: Bearer \xa0${token}`), { status: 401 }),
  row('Bearer, the token and a no-break space', withHeaders(`Authorization: Bearer ${token}\xa0`), invalid),
  row('Bearer, a tab and the token', withHeaders(`Authorization: Bearer\t${token}`), { status: 401 }),
  row('Bearer: and the token', withHeaders(`Authorization: Bearer: ${token}`), { status: 401 }),
  row('Bearer and the token without a space', withHeaders(`Authorization: Bearer${token}`), missing),
  row('the token without a scheme', withHeaders(`Authorization: ${token}`), missing),
  row('the token under another scheme', withHeaders(`Authorization: Token ${token}`), missing),
  row('a wrong token', withHeaders(wrong), invalid),
  row('the beginning of the token', withHeaders(`Authorization: ${authorization.slice(0, -1)}`), invalid),
  row('more than the token', withHeaders(`Authorization: ${authorization}a`), invalid),
  row('the token in another case', withHeaders(`Authorization: Bearer ${token.toUpperCase()}`), invalid),
  row('the token and another', withHeaders(`Authorization: ${authorization} ${token}`), invalid),
  row('two tokens in a list', withHeaders(`Authorization: ${authorization}, ${authorization}`), invalid),
  row('the token in quotes', withHeaders(`Authorization: Bearer "${token}"`), invalid),
  row('a token of bytes beyond ASCII', withHeaders('Authorization: Bearer \xff\xfe\xe9'), invalid),
  row('a token of 8 KB', withHeaders(`Authorization: Bearer ${'x'.repeat(8_192)}`), invalid),
  row(
    'two Authorization headers (RFC 9110 section 5.3)',
    withHeaders(`Authorization: ${authorization}`, `Authorization: ${authorization}`),
    { status: 400, error: 40000, closes: 'as announced' },
  ),
  row('a wrong Authorization header after the right one', withHeaders(`Authorization: ${authorization}`, wrong), {
    status: 400,
    error: 40000,
    closes: 'as announced',
  }),
  row(
    'the token in the query (RFC 6750 section 2.3)',
    request({ line: `POST /plants?access_token=${token} HTTP/1.1`, without: ['authorization'] }),
    missing,
  ),
  row(
    'the token in a form (RFC 6750 section 2.2)',
    request({
      headers: ['Content-Type: application/x-www-form-urlencoded'],
      without: ['authorization'],
      body: `access_token=${token}`,
    }),
    missing,
  ),
  row(
    'the token in the target',
    request({ line: `POST http://${token}@plants.example/plants HTTP/1.1`, without: ['authorization'] }),
    missing,
  ),
  row(
    'Proxy-Authorization',
    request({ headers: [`Proxy-Authorization: ${authorization}`], without: ['authorization'] }),
    missing,
  ),
]

const beforeTheBody: Case[] = [
  row('a wrong token and a huge body, announced', announced(1_000_000_000, wrong), { ...invalid, closes: true }),
  row(
    'no token and a huge body, announced',
    request({ headers: ['Content-Length: 1000000000'], without: ['authorization'], body: '' }),
    { ...missing, closes: true },
  ),
  row('a wrong token and a chunked body, announced', announcedChunked(wrong), { ...invalid, closes: true }),
  row(
    'a wrong token and a small body that is sent after the response',
    afterTheAnswer(announced(record.length, wrong), record),
    invalid,
  ),
  row(
    'a wrong token and a small body that breaks off after the response',
    [announced(record.length, wrong), { answered: 1 }, '{"id"', { halfClose: true }],
    { ...invalid, closes: 'quietly' },
  ),
  row('a wrong token and a body that is not JSON', request({ headers: [wrong], body: '{"id":' }), invalid),
  row('a wrong token and a body that breaks its schema', request({ headers: [wrong], body: '[]' }), invalid),
  row('a wrong token and a wrong media type', withHeaders(wrong, 'Content-Type: text/plain'), invalid),
  row('a wrong token and no media type', request({ headers: [wrong], without: ['content-type'] }), invalid),
  row('a wrong token and a content encoding', withHeaders(wrong, 'Content-Encoding: gzip'), invalid),
  row('a wrong token and no body', request({ headers: [wrong], body: '' }), invalid),
  row('a wrong token on an unknown path', request({ line: 'POST /nothing HTTP/1.1', headers: [wrong] }), {
    status: 404,
    error: 40400,
  }),
  row('a wrong token with a method that the path lacks', request({ line: 'PUT /plants HTTP/1.1', headers: [wrong] }), {
    to: 'PUT /plants',
    status: 405,
    error: 40500,
  }),
  row(
    'a wrong token and Expect: 100-continue: the service does not ask for the body (RFC 9110 section 10.1.1)',
    announced(record.length, wrong, 'Expect: 100-continue'),
    { ...invalid, continues: 0, closes: true },
  ),
  row(
    'a wrong media type and Expect: 100-continue: the service does not ask for the body',
    announced(record.length, 'Content-Type: text/plain', 'Expect: 100-continue'),
    { ...notSupported, continues: 0, closes: true },
  ),
  row(
    'a body announced too large and Expect: 100-continue: the service does not ask for it',
    announced(1_000_000_000, 'Expect: 100-continue'),
    { ...tooLarge, continues: 0, closes: true },
  ),
]

const mediaTypes: Case[] = [
  ...[
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; Charset=Utf-8 ',
    'application/json; charset="utf-8"',
    'application/json; charset="UTF-8"',
    'application/json\t;\tcharset=utf-8',
  ].map((type) => row(`taken: ${type}`, typed(type))),
  // RFC 9110 section 5.6.6: parameters = *( OWS ";" OWS [ parameter ] ).
  ...['application/json;', 'application/json; ;charset=utf-8', 'application/json;charset=utf-8;'].map((type) =>
    row(`a semicolon without a parameter: ${type}`, typed(type)),
  ),
  ...[
    'text/plain',
    'text/json',
    'application/json;charset=latin1',
    'application/json;charset=utf-16',
    'application/json;charset=utf8',
    'application/json;charset=',
    'application/json;charset',
    'application/json;charset = utf-8',
    "application/json;charset='utf-8'",
    'application/json;charset="utf-8',
    'application/json;charset=utf-8;charset=latin1',
    'application/json;charset=utf-8;charset=utf-8',
    'application/json;profile=x',
    'application/json;version=1;charset=utf-8',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    'application/vnd.plants+json',
    'application/*',
    '*/*',
    'application/json, text/plain',
    'application/json application/json',
    'application',
    '/',
    'json',
    'application/json\xa0',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '__proto__',
    '',
  ].map((type) => row(`rejected: ${type}`, typed(type), notSupported)),
  row('rejected: no media type', request({ without: ['content-type'] }), notSupported),
  row('rejected: no media type and no body', request({ without: ['content-type'], body: '' }), notSupported),
  row(
    'rejected: no media type and no length',
    request({ without: ['content-type', 'content-length'], body: '' }),
    notSupported,
  ),
  row('two media types', withHeaders('Content-Type: application/json', 'Content-Type: text/plain'), {
    status: 400,
    error: 40000,
    closes: 'as announced',
  }),
  ...['gzip', 'br', 'identity', 'utf-8'].map((coding) =>
    row(`rejected: Content-Encoding: ${coding}`, withHeaders(`Content-Encoding: ${coding}`), encoded),
  ),
  row('no body', request({ body: '' }), notJson),
  row('no body and no length', request({ without: ['content-length'], body: '' }), notJson),
  row('an empty chunked body', request({ headers: ['Transfer-Encoding: chunked'], body: '0\r\n\r\n' }), notJson),
  row('an Accept without JSON is ignored (RFC 9110 section 12.4.1)', withHeaders('Accept: text/html')),
  row('an Accept-Encoding is ignored', withHeaders('Accept-Encoding: gzip, br'), {
    ...ok,
    headers: { 'content-encoding': undefined },
  }),
]

/** Cases for a body limit of 1,024 bytes. */
const sizes: Case[] = [
  row('a body as large as the limit', request({ body: record.padEnd(1_024) })),
  row('a chunked body as large as the limit', chunkedInTwo(record.padEnd(1_024))),
  row('one byte over the limit, announced', afterTheAnswer(announced(1_025), 'x'.repeat(1_025)), {
    ...tooLarge,
    closes: 'as announced',
  }),
  row('far over the limit, announced', announced(1_000_000_000), { ...tooLarge, closes: true }),
  row('a chunked body of one chunk over the limit', [announcedChunked(), chunk(1_025)], { ...tooLarge, closes: true }),
  row(
    'a chunked body that grows over the limit',
    [announcedChunked(), chunk(500), { pause: 5 }, chunk(500), { pause: 5 }, chunk(500)],
    { ...tooLarge, closes: true },
  ),
  row('a chunked body that announces a chunk of 4 GB', [announcedChunked(), 'ffffffff\r\n', 'x'.repeat(2_000)], {
    ...tooLarge,
    closes: true,
  }),
  row('a wrong media type takes precedence over the size', announced(1_000_000_000, 'Content-Type: text/plain'), {
    ...notSupported,
    closes: true,
  }),
  row('a content encoding takes precedence over the size', announced(1_000_000_000, 'Content-Encoding: gzip'), {
    ...encoded,
    closes: true,
  }),
  row(
    'an unknown path takes precedence over the size',
    request({ line: 'POST /nothing HTTP/1.1', body: 'x'.repeat(5_000) }),
    { status: 404, error: 40400 },
  ),
]

function afterTheAnswer(head: Buffer, body: string): Step[] {
  return [head, { answered: 1 }, body]
}

function chunkedInTwo(body: string): Step[] {
  const half = body.length / 2
  const parts = [body.slice(0, half), body.slice(half)]
  return [announcedChunked(), ...parts.map((part) => `${half.toString(16)}\r\n${part}\r\n`), '0\r\n\r\n']
}

const groups = {
  'only the Bearer scheme with a valid token is accepted': schemes,
  'authentication comes before the body': beforeTheBody,
  'a media type other than JSON gets 415': mediaTypes,
}
overTheWire(t, (t, start) => {
  for (const [name, cases] of Object.entries(groups))
    t.test(name, async (t) => {
      const { listen, log, create } = await start(t)
      t.same(await runCases(t, await listen(), cases), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
      t.equal((await create({ id: 1, name: 'raw' })).status, 200)
      t.same(log, [])
    })

  t.test('an oversized body gets 413', async (t) => {
    const { listen, log, create } = await start(t, { limits: { body: 1_024 } })
    t.same(await runCases(t, await listen(), sizes), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
    t.equal((await create({ id: 1, name: 'raw' })).status, 200)
    t.same(log, [])
  })
})
