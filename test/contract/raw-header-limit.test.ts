import t from 'tap'
import { type Case, record, request, row, runCases } from '../support/raw-http.ts'
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
  row('a header section as large as the limit', ofSize(limit)),
  row('a header section one byte over the limit', ofSize(limit + 1), tooLarge),
  row('15,000 lines without a value', request({ headers: [lines.slice(0, -2)] }), tooLarge),
  row('20,000 spaces before a value', request({ headers: [`a:${spaces}b`] }), tooLarge),
  row('20,000 spaces in the request line', request({ line: `POST${spaces}/plants HTTP/1.1` }), tooLarge),
  row(
    '20,000 spaces after a request on the same connection',
    [request(), { answered: 1 }, request({ headers: [`a:${spaces}b`] })],
    { answers: [ok, { status: 431, error: 43100 }], closes: true },
  ),
  row('20,000 spaces in an unfinished request', unfinished(`a:${spaces}`), tooLarge),
  row('20,000 spaces in an unfinished request, in pieces', [unfinished('a:'), spaces, spaces], tooLarge),
  row(
    '5,000 lines of an unfinished request after one with a body',
    [request({ body: large }), { answered: 1 }, unfinished(lines.slice(0, 20_000))],
    { answers: [ok, { status: 431, error: 43100 }], closes: true },
  ),
]

heads.push(
  row(
    'an unfinished request after one whose body came after its response',
    [
      request({ without: ['authorization'], headers: ['Content-Length: 1'], body: '' }),
      { answered: 1 },
      'x',
      { pause: 600 },
      unfinished(`a:${spaces}`),
    ],
    {
      answers: [
        { status: 401, error: 40100 },
        { status: 431, error: 43100 },
      ],
      closes: true,
    },
  ),
)

const trailers: Case[] = [
  row('15,000 lines', chunked(`${oneChunk}0\r\n${lines}\r\n`), tooLarge),
  row('20,000 spaces', chunked(`${oneChunk}0\r\na:${spaces}b\r\n\r\n`), tooLarge),
  row(
    '20,000 spaces after the rest of the request',
    [chunked(`${oneChunk}0\r\na:`), { pause: 100 }, `${spaces}b\r\n\r\n`],
    tooLarge,
  ),
  row('more spaces than the largest body', [chunked(`${oneChunk}0\r\na:`), ' '.repeat(2_000_000)], tooLarge),
  row('a few lines', chunked(`${oneChunk}0\r\na: b\r\nc:\r\n\r\n`)),
]

const many = 200
const others: Case[] = [
  row('a body in the same segment as its header section', request({ body: large })),
  row('a request after a chunked one', Buffer.concat([chunked(`${oneChunk}0\r\n\r\n`), request()]), {
    answers: [ok, ok],
  }),
  row('a body in chunks of one byte', chunked(`${inBytes}0\r\n\r\n`)),
  row('200 requests at once', Buffer.concat(Array(many).fill(request())), { answers: Array(many).fill(ok) }),
  row(
    'a request after an unread body',
    [request({ body: large, without: ['authorization'] }), { answered: 1 }, request()],
    { answers: [{ status: 401, error: 40100 }, ok] },
  ),
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
    await runCases(t, await listen(), [row('in two pieces', steps, { answers })])
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
