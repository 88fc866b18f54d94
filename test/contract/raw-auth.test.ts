import t from 'tap'
import { type Case, record, request, runCases, type Step } from '../support/raw-http.ts'
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
  { name: 'no Authorization', bytes: request({ without: ['authorization'] }), ...missing },
  { name: 'an empty Authorization', bytes: withHeaders('Authorization:'), ...missing },
  { name: 'Basic', bytes: withHeaders('Authorization: Basic YTpi'), ...missing },
  { name: 'Bearer alone', bytes: withHeaders('Authorization: Bearer'), ...missing },
  { name: 'Bearer and spaces', bytes: withHeaders('Authorization: Bearer   '), ...missing },
  { name: 'Bearer and a no-break space', bytes: withHeaders('Authorization: Bearer \xa0'), status: 401 },
  {
    name: 'Bearer, a no-break space and the token',
    bytes: withHeaders(`Authorization: Bearer \xa0${token}`),
    status: 401,
  },
  {
    name: 'Bearer, the token and a no-break space',
    bytes: withHeaders(`Authorization: Bearer ${token}\xa0`),
    ...invalid,
  },
  { name: 'Bearer, a tab and the token', bytes: withHeaders(`Authorization: Bearer\t${token}`), status: 401 },
  { name: 'Bearer: and the token', bytes: withHeaders(`Authorization: Bearer: ${token}`), status: 401 },
  { name: 'Bearer and the token without a space', bytes: withHeaders(`Authorization: Bearer${token}`), ...missing },
  { name: 'the token without a scheme', bytes: withHeaders(`Authorization: ${token}`), ...missing },
  { name: 'the token under another scheme', bytes: withHeaders(`Authorization: Token ${token}`), ...missing },
  { name: 'a wrong token', bytes: withHeaders(wrong), ...invalid },
  {
    name: 'the beginning of the token',
    bytes: withHeaders(`Authorization: ${authorization.slice(0, -1)}`),
    ...invalid,
  },
  { name: 'more than the token', bytes: withHeaders(`Authorization: ${authorization}a`), ...invalid },
  { name: 'the token in another case', bytes: withHeaders(`Authorization: Bearer ${token.toUpperCase()}`), ...invalid },
  { name: 'the token and another', bytes: withHeaders(`Authorization: ${authorization} ${token}`), ...invalid },
  { name: 'two tokens in a list', bytes: withHeaders(`Authorization: ${authorization}, ${authorization}`), ...invalid },
  { name: 'the token in quotes', bytes: withHeaders(`Authorization: Bearer "${token}"`), ...invalid },
  { name: 'a token of bytes beyond ASCII', bytes: withHeaders('Authorization: Bearer \xff\xfe\xe9'), ...invalid },
  { name: 'a token of 8 KB', bytes: withHeaders(`Authorization: Bearer ${'x'.repeat(8_192)}`), ...invalid },
  {
    name: 'two Authorization headers (RFC 9110 section 5.3)',
    bytes: withHeaders(`Authorization: ${authorization}`, `Authorization: ${authorization}`),
    status: 400,
    error: 40000,
    closes: 'as announced',
  },
  {
    name: 'a wrong Authorization header after the right one',
    bytes: withHeaders(`Authorization: ${authorization}`, wrong),
    status: 400,
    error: 40000,
    closes: 'as announced',
  },
  {
    name: 'the token in the query (RFC 6750 section 2.3)',
    bytes: request({ line: `POST /plants?access_token=${token} HTTP/1.1`, without: ['authorization'] }),
    ...missing,
  },
  {
    name: 'the token in a form (RFC 6750 section 2.2)',
    bytes: request({
      headers: ['Content-Type: application/x-www-form-urlencoded'],
      without: ['authorization'],
      body: `access_token=${token}`,
    }),
    ...missing,
  },
  {
    name: 'the token in the target',
    bytes: request({ line: `POST http://${token}@plants.example/plants HTTP/1.1`, without: ['authorization'] }),
    ...missing,
  },
  {
    name: 'Proxy-Authorization',
    bytes: request({ headers: [`Proxy-Authorization: ${authorization}`], without: ['authorization'] }),
    ...missing,
  },
]

const beforeTheBody: Case[] = [
  {
    name: 'a wrong token and a huge body, announced',
    bytes: announced(1_000_000_000, wrong),
    ...invalid,
    closes: true,
  },
  {
    name: 'no token and a huge body, announced',
    bytes: request({ headers: ['Content-Length: 1000000000'], without: ['authorization'], body: '' }),
    ...missing,
    closes: true,
  },
  { name: 'a wrong token and a chunked body, announced', bytes: announcedChunked(wrong), ...invalid, closes: true },
  {
    name: 'a wrong token and a small body that is sent after the response',
    bytes: afterTheAnswer(announced(record.length, wrong), record),
    ...invalid,
  },
  {
    name: 'a wrong token and a small body that breaks off after the response',
    bytes: [announced(record.length, wrong), { answered: 1 }, '{"id"', { halfClose: true }],
    ...invalid,
    closes: 'quietly',
  },
  {
    name: 'a wrong token and a body that is not JSON',
    bytes: request({ headers: [wrong], body: '{"id":' }),
    ...invalid,
  },
  {
    name: 'a wrong token and a body that breaks its schema',
    bytes: request({ headers: [wrong], body: '[]' }),
    ...invalid,
  },
  { name: 'a wrong token and a wrong media type', bytes: withHeaders(wrong, 'Content-Type: text/plain'), ...invalid },
  {
    name: 'a wrong token and no media type',
    bytes: request({ headers: [wrong], without: ['content-type'] }),
    ...invalid,
  },
  { name: 'a wrong token and a content encoding', bytes: withHeaders(wrong, 'Content-Encoding: gzip'), ...invalid },
  { name: 'a wrong token and no body', bytes: request({ headers: [wrong], body: '' }), ...invalid },
  {
    name: 'a wrong token on an unknown path',
    bytes: request({ line: 'POST /nothing HTTP/1.1', headers: [wrong] }),
    status: 404,
    error: 40400,
  },
  {
    name: 'a wrong token with a method that the path lacks',
    bytes: request({ line: 'PUT /plants HTTP/1.1', headers: [wrong] }),
    to: 'PUT /plants',
    status: 405,
    error: 40500,
  },
  {
    name: 'a wrong token and Expect: 100-continue: the service does not ask for the body (RFC 9110 section 10.1.1)',
    bytes: announced(record.length, wrong, 'Expect: 100-continue'),
    ...invalid,
    continues: 0,
    closes: true,
  },
  {
    name: 'a wrong media type and Expect: 100-continue: the service does not ask for the body',
    bytes: announced(record.length, 'Content-Type: text/plain', 'Expect: 100-continue'),
    ...notSupported,
    continues: 0,
    closes: true,
  },
  {
    name: 'a body announced too large and Expect: 100-continue: the service does not ask for it',
    bytes: announced(1_000_000_000, 'Expect: 100-continue'),
    ...tooLarge,
    continues: 0,
    closes: true,
  },
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
  ].map((type) => ({ name: `taken: ${type}`, bytes: typed(type), ...ok })),
  // RFC 9110 section 5.6.6: parameters = *( OWS ";" OWS [ parameter ] ).
  ...['application/json;', 'application/json; ;charset=utf-8', 'application/json;charset=utf-8;'].map((type) => ({
    name: `a semicolon without a parameter: ${type}`,
    bytes: typed(type),
    ...ok,
  })),
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
  ].map((type) => ({ name: `rejected: ${type}`, bytes: typed(type), ...notSupported })),
  { name: 'rejected: no media type', bytes: request({ without: ['content-type'] }), ...notSupported },
  {
    name: 'rejected: no media type and no body',
    bytes: request({ without: ['content-type'], body: '' }),
    ...notSupported,
  },
  {
    name: 'rejected: no media type and no length',
    bytes: request({ without: ['content-type', 'content-length'], body: '' }),
    ...notSupported,
  },
  {
    name: 'two media types',
    bytes: withHeaders('Content-Type: application/json', 'Content-Type: text/plain'),
    status: 400,
    error: 40000,
    closes: 'as announced',
  },
  ...['gzip', 'br', 'identity', 'utf-8'].map((coding) => ({
    name: `rejected: Content-Encoding: ${coding}`,
    bytes: withHeaders(`Content-Encoding: ${coding}`),
    ...encoded,
  })),
  { name: 'no body', bytes: request({ body: '' }), ...notJson },
  { name: 'no body and no length', bytes: request({ without: ['content-length'], body: '' }), ...notJson },
  {
    name: 'an empty chunked body',
    bytes: request({ headers: ['Transfer-Encoding: chunked'], body: '0\r\n\r\n' }),
    ...notJson,
  },
  {
    name: 'an Accept without JSON is ignored (RFC 9110 section 12.4.1)',
    bytes: withHeaders('Accept: text/html'),
    ...ok,
  },
  {
    name: 'an Accept-Encoding is ignored',
    bytes: withHeaders('Accept-Encoding: gzip, br'),
    ...ok,
    headers: { 'content-encoding': undefined },
  },
]

/** Cases for a body limit of 1,024 bytes. */
const sizes: Case[] = [
  { name: 'a body as large as the limit', bytes: request({ body: record.padEnd(1_024) }), ...ok },
  { name: 'a chunked body as large as the limit', bytes: chunkedInTwo(record.padEnd(1_024)), ...ok },
  {
    name: 'one byte over the limit, announced',
    bytes: afterTheAnswer(announced(1_025), 'x'.repeat(1_025)),
    ...tooLarge,
    closes: 'as announced',
  },
  { name: 'far over the limit, announced', bytes: announced(1_000_000_000), ...tooLarge, closes: true },
  {
    name: 'a chunked body of one chunk over the limit',
    bytes: [announcedChunked(), chunk(1_025)],
    ...tooLarge,
    closes: true,
  },
  {
    name: 'a chunked body that grows over the limit',
    bytes: [announcedChunked(), chunk(500), { pause: 5 }, chunk(500), { pause: 5 }, chunk(500)],
    ...tooLarge,
    closes: true,
  },
  {
    name: 'a chunked body that announces a chunk of 4 GB',
    bytes: [announcedChunked(), 'ffffffff\r\n', 'x'.repeat(2_000)],
    ...tooLarge,
    closes: true,
  },
  {
    name: 'a wrong media type takes precedence over the size',
    bytes: announced(1_000_000_000, 'Content-Type: text/plain'),
    ...notSupported,
    closes: true,
  },
  {
    name: 'a content encoding takes precedence over the size',
    bytes: announced(1_000_000_000, 'Content-Encoding: gzip'),
    ...encoded,
    closes: true,
  },
  {
    name: 'an unknown path takes precedence over the size',
    bytes: request({ line: 'POST /nothing HTTP/1.1', body: 'x'.repeat(5_000) }),
    status: 404,
    error: 40400,
  },
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
  for (const [name, cases] of Object.entries(groups)) {
    t.test(name, async (t) => {
      const { listen, log, create } = await start(t)
      t.same(await runCases(t, await listen(), cases), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
      t.equal((await create({ id: 1, name: 'raw' })).status, 200)
      t.same(log, [])
    })
  }

  t.test('an oversized body gets 413', async (t) => {
    const { listen, log, create } = await start(t, { limits: { body: 1_024 } })
    t.same(await runCases(t, await listen(), sizes), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
    t.equal((await create({ id: 1, name: 'raw' })).status, 200)
    t.same(log, [])
  })
})
