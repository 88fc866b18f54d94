import t from 'tap'
import { type Case, record, request, runCases } from '../support/raw-http.ts'
import { overTheWire } from '../support/wire-service.ts'

const limit = 16_384
const spaces = ' '.repeat(20_000)
const lines = 'a:\r\n'.repeat(15_000)

const ok = { status: 200 }
const tooLarge = { status: 431, error: 43100, closes: true } as const

/** Returns a write request whose header section, with the empty line that ends it, has the given number of bytes. */
function ofSize(bytes: number) {
  const rest = request({ headers: ['X-Pad: '] }).length - record.length
  return request({ headers: [`X-Pad: ${'x'.repeat(bytes - rest)}`] })
}

const chunked = (body: string) => request({ headers: ['Transfer-Encoding: chunked'], body })
const oneChunk = `${record.length.toString(16)}\r\n${record}\r\n`
const unfinished = (end: string) => Buffer.concat([request({ body: '' }).subarray(0, -2), Buffer.from(end)])
const large = JSON.stringify({ id: 1, name: 'raw', more: 'x'.repeat(60_000) })
const inBytes = Array.from(large.slice(0, 20_000) + large.slice(-2), (one) => `1\r\n${one}\r\n`).join('')

const heads: Case[] = [
  { name: 'a header section as large as the limit', bytes: ofSize(limit), ...ok },
  { name: 'a header section one byte over the limit', bytes: ofSize(limit + 1), ...tooLarge },
  { name: '15,000 lines without a value', bytes: request({ headers: [lines.slice(0, -2)] }), ...tooLarge },
  { name: '20,000 spaces before a value', bytes: request({ headers: [`a:${spaces}b`] }), ...tooLarge },
  { name: '20,000 spaces in the request line', bytes: request({ line: `POST${spaces}/plants HTTP/1.1` }), ...tooLarge },
  {
    name: '20,000 spaces after a request on the same connection',
    bytes: [request(), { answered: 1 }, request({ headers: [`a:${spaces}b`] })],
    answers: [ok, { status: 431, error: 43100 }],
    closes: true,
  },
  { name: '20,000 spaces in an unfinished request', bytes: unfinished(`a:${spaces}`), ...tooLarge },
  { name: '20,000 spaces in an unfinished request, in pieces', bytes: [unfinished('a:'), spaces, spaces], ...tooLarge },
  {
    name: '5,000 lines of an unfinished request after one with a body',
    bytes: [request({ body: large }), { answered: 1 }, unfinished(lines.slice(0, 20_000))],
    answers: [ok, { status: 431, error: 43100 }],
    closes: true,
  },
]

heads.push({
  name: 'an unfinished request after one whose body came after its response',
  bytes: [
    request({ without: ['authorization'], headers: ['Content-Length: 1'], body: '' }),
    { answered: 1 },
    'x',
    { pause: 600 },
    unfinished(`a:${spaces}`),
  ],
  answers: [
    { status: 401, error: 40100 },
    { status: 431, error: 43100 },
  ],
  closes: true,
})

const trailers: Case[] = [
  { name: '15,000 lines', bytes: chunked(`${oneChunk}0\r\n${lines}\r\n`), ...tooLarge },
  { name: '20,000 spaces', bytes: chunked(`${oneChunk}0\r\na:${spaces}b\r\n\r\n`), ...tooLarge },
  {
    name: '20,000 spaces after the rest of the request',
    bytes: [chunked(`${oneChunk}0\r\na:`), { pause: 100 }, `${spaces}b\r\n\r\n`],
    ...tooLarge,
  },
  {
    name: 'more spaces than the largest body',
    bytes: [chunked(`${oneChunk}0\r\na:`), ' '.repeat(2_000_000)],
    ...tooLarge,
  },
  { name: 'a few lines', bytes: chunked(`${oneChunk}0\r\na: b\r\nc:\r\n\r\n`), ...ok },
]

const many = 200
const others: Case[] = [
  { name: 'a body in the same segment as its header section', bytes: request({ body: large }), ...ok },
  {
    name: 'a request after a chunked one',
    bytes: Buffer.concat([chunked(`${oneChunk}0\r\n\r\n`), request()]),
    answers: [ok, ok],
  },
  { name: 'a body in chunks of one byte', bytes: chunked(`${inBytes}0\r\n\r\n`), ...ok },
  { name: '200 requests at once', bytes: Buffer.concat(Array(many).fill(request())), answers: Array(many).fill(ok) },
  {
    name: 'a request after an unread body',
    bytes: [request({ body: large, without: ['authorization'] }), { answered: 1 }, request()],
    answers: [{ status: 401, error: 40100 }, ok],
  },
]

overTheWire(t, (t, start) => {
  t.test('the limit of the header section counts bytes on the wire', async (t) => {
    const { listen, created } = await start(t)
    const port = await listen()
    created()
    await runCases(t, port, heads)
    const served = heads.flatMap(({ status, answers = [{ status }] }) => answers).filter(({ status }) => status === 200)
    t.equal(created().filter(({ name }) => name === 'raw').length, served.length, 'a rejected request creates nothing')
  })

  t.test('a dropped body does not count for the next header section, even with small limits', async (t) => {
    const { listen } = await start(t, { limits: { body: 1_024 } })
    const dropped = request({ body: large, without: ['authorization'] })
    const steps = [dropped.subarray(0, -1), { answered: 1 }, { pause: 600 }, dropped.subarray(-1), request()]
    const answers = [{ status: 401, error: 40100 }, ok]
    await runCases(t, await listen(), [{ name: 'in two pieces', bytes: steps, answers }])
  })

  t.test('the limit of trailers counts bytes on the wire', async (t) => {
    const { listen } = await start(t)
    await runCases(t, await listen(), trailers)
  })

  t.test('bodies and other requests do not count for the header section', async (t) => {
    const { listen } = await start(t)
    await runCases(t, await listen(), others)
  })
})
