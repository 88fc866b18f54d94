import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Dicer } from '@fastify/busboy'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { boundaryOf, readParts } from '../../src/http/multipart.ts'
import { boundedStream } from '../../src/http/upload.ts'

/** Returns the parts of a form that arrives in chunks of `size` bytes, and the message of the error that ends it. */
async function read(form: string, size: number, isRead: boolean): Promise<unknown[]> {
  const bytes = Buffer.from(form, 'latin1')
  const count = Math.ceil(bytes.length / size)
  const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
  const source = boundedStream(Readable.from(chunks, { objectMode: false }), {})
  const found: unknown[] = []
  try {
    for await (const { name, filename, contentType, bytes } of readParts(source, 'b', 3)) {
      const text = isRead ? (await buffer(bytes)).toString('latin1') : ''
      found.push([name, ...(filename === undefined ? [] : [filename, contentType?.essence]), ...(isRead ? [text] : [])])
    }
  } catch (error) {
    found.push((error as Error).message.replace('body is not multipart/form-data: ', ''))
  }
  return found
}

const head = (name: string, more = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
const part = (name: string, text: string, more = '') => `${head(name, more)}${text}\r\n`
const end = '--b--\r\n'
const file = '; filename="c:\\x/y.png"\r\nContent-Type: image/png'
const cut = 'its last boundary is missing'
const malformed = 'a part has a malformed header'
const encoded = 'a part has a Content-Transfer-Encoding; send its bytes as they are'
const twice = 'a part repeats a header'
const nul = 'a name or filename contains U+0000'
const control = 'a filename contains a control character'
const utf8 = (text: string) => Buffer.from(text).toString('latin1')
const nameless = 'a part has no Content-Disposition with a name'

const forms: [what: string, form: string, parts: unknown[]][] = [
  [
    'parts',
    part('a', '1') + part('f', '\xff\r\n--c', file) + end,
    [
      ['a', '1'],
      ['f', 'y.png', 'image/png', '\xff\r\n--c'],
    ],
  ],
  [
    'empty parts',
    part('a', '') + part('c', '') + end,
    [
      ['a', ''],
      ['c', ''],
    ],
  ],
  ['no part', end, []],
  ['a preamble and an epilogue', `preamble\r\n${part('a', '1')}${end}epilogue\r\n--b\r\n`, [['a', '1']]],
  ['a name in UTF-8', Buffer.from(part('\u00e4', '1') + end).toString('latin1'), [['\u00e4', '1']]],
  ['a quote in a name', part('a\\"\\\\\\n', '1') + end, [['a"\\\\n', '1']]],
  [
    'names of browsers, curl and fetch, where a backslash is no escape',
    part('\\', '1') + part('a\\b%22c', '2', '; filename="c:\\x\\"') + part('a\\', '3', '; filename="d\\y.txt"') + end,
    [
      ['\\', '1'],
      ['a\\b%22c', '', undefined, '2'],
      ['a\\', 'y.txt', undefined, '3'],
    ],
  ],
  [
    'names of Go, httpx and aiohttp, where a backslash is an escape',
    part('\\\\', '1') + part('a\\\\b\\"c', '2', '; filename="x\\\\y\\"z.txt"') + part('\\"; filename=\\"', '3') + end,
    [
      ['\\', '1'],
      ['a\\b"c', 'y"z.txt', undefined, '2'],
      ['"; filename="', '3'],
    ],
  ],
  [
    'a quote in a filename of browsers, and one of a client that encodes all characters',
    part('a', '1', '; filename="b%22%0D.txt"') + part('c', '2', '; filename="d%20%22.txt"') + end,
    [
      ['a', 'b"%0D.txt', undefined, '1'],
      ['c', 'd%20%22.txt', undefined, '2'],
    ],
  ],
  ['an unfinished name', `--b\r\nContent-Disposition: form-data; name="a\\"b\r\n\r\n1\r\n${end}`, [nameless]],
  ['an empty filename', part('a', '', '; filename=""') + end, [['a', '', undefined, '']]],
  ['an empty body', '', [cut]],
  ['no boundary', 'a=b', [cut]],
  ['an end within a part', `${part('a', '1')}${head('c')}2`, [['a', '1'], cut]],
  ['an end within a head', `${part('a', '1')}--b\r\nContent-Disp`, [['a', '1'], cut]],
  ['an incomplete head', `--b\r\nContent-Disp\r\n${part('a', '1')}${end}`, ['the headers of a part are incomplete']],
  ['an incomplete last head', `--b\r\nContent-Disp\r\n${end}`, ['the headers of a part are incomplete']],
  ['no head', `--b\r\n\r\n1\r\n${end}`, [nameless]],
  ['another disposition', `--b\r\nContent-Disposition: form-data2; name=a\r\n\r\n1\r\n${end}`, [nameless]],
  ['a name that is not UTF-8', part('\xff', '1') + end, [nameless]],
  ['an extended name of another charset', part('a', '1', "; filename*=latin1''a") + end, [nameless]],
  ['a longer boundary', `--bc\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n${end}`, [malformed]],
  ['spaces after a boundary', `--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n${end}`, [['a', '1']]],
  ['a folded header line', `--b\r\nContent-Disposition: form-data;\r\n\tname=a\r\n\r\n1\r\n${end}`, [['a', '1']]],
  ['a line without a colon', part('a', '1', '\r\nnonsense\r\nContent-Transfer-Encoding: base64') + end, [malformed]],
  ['a line without a name', part('a', '1', '\r\n: a') + end, [malformed]],
  ['a bare line feed', part('a', '1', '\r\nX-A: a\nContent-Transfer-Encoding: base64') + end, [malformed]],
  ['a transfer encoding', part('a', '1', '\r\nContent-Transfer-Encoding: base64') + end, [encoded]],
  ['two headers of one name', part('a', '1', '\r\nContent-Type: a/b\r\nContent-Type: a/c') + end, [twice]],
  ['an empty head after another', `${part('a', '1')}--b\r\n\r\n2\r\n${end}`, [['a', '1'], nameless]],
  ['U+0000 in a name', part('a\0', '1') + end, [nul]],
  ['U+0000 in a filename', part('a', '1', '; filename="a\0.png"') + end, [nul]],
  ['U+0000 in an encoded filename', part('a', '1', "; filename*=UTF-8''a%00.png") + end, [nul]],
  ['a line break in an encoded filename', part('a', '1', "; filename*=UTF-8''a%0D%0Ab") + end, [control]],
  ['U+0085 in a filename', part('a', '1', `; filename="a${utf8('\u0085')}"`) + end, [control]],
  ['U+2028 in a filename', part('a', '1', `; filename="a${utf8('\u2028')}"`) + end, [control]],
  ['U+202E in a filename', part('a', '1', `; filename="a${utf8('\u202e')}gpj.exe"`) + end, [control]],
  ['U+2066 in an encoded filename', part('a', '1', "; filename*=UTF-8''a%E2%81%A6") + end, [control]],
  [
    'joiners in a filename',
    part('a', '1', `; filename="${utf8('\u0645\u06cc\u200c\u{1f468}\u200d\u{1f467}')}"`) + end,
    [['a', '\u0645\u06cc\u200c\u{1f468}\u200d\u{1f467}', undefined, '1']],
  ],
  [
    'a directory as filename',
    part('a', '1', '; filename=".."') + part('c', '2', '; filename="a/."') + end,
    [
      ['a', '1'],
      ['c', '2'],
    ],
  ],
  ['a large head', part('a', '1', `\r\nX-A: ${'x'.repeat(5_000)}`) + end, ['the headers of a part are too large']],
  ['many headers', part('a', '1', '\r\nX-A: x'.repeat(20)) + end, ['the headers of a part are too large']],
  [
    'too many parts',
    part('a', '1').repeat(4) + end,
    [['a', '1'], ['a', '1'], ['a', '1'], 'the form has more than 3 fields'],
  ],
]

for (const [what, form, expected] of forms)
  t.test(`a form with ${what} gives the same result in chunks of any size`, async (t) => {
    for (const size of [1, 7, 1_000_000]) {
      const parts = await read(form, size, true)
      const error = expected.at(-1)
      if (typeof error !== 'string') t.same(parts, expected, `${size}`)
      else {
        t.equal(parts.pop(), error, `${size}`)
        // Parts that arrive in the same chunk as the error, or are read ahead, are not returned.
        t.same(parts, expected.slice(0, Math.min(parts.length, expected.length - 1)), `${size}`)
      }
    }
    if (typeof expected.at(-1) === 'string') t.equal((await read(form, 7, false)).at(-1), expected.at(-1), 'unread')
    else t.equal((await read(form, 7, false)).length, expected.length, 'unread')
  })

t.test('after an error the rest of a chunk is not parsed', async (t) => {
  const cases: [what: string, form: string, parts: number, error: string][] = [
    ['parts without a head', '--b\r\n', 2, 'the headers of a part are incomplete'],
    ['parts with an empty head', '--b\r\n\r\n\r\n', 1, nameless],
    ['too many parts', part('a', ''), 4, 'the form has more than 3 fields'],
  ]
  const { emit } = Dicer.prototype
  t.teardown(() => {
    Dicer.prototype.emit = emit
  })
  for (const [what, form, parts, error] of cases) {
    let built = 0
    Dicer.prototype.emit = function (this: Dicer, ...event: Parameters<typeof emit>) {
      if (String(event[0]) === 'part') built++
      return emit.apply(this, event)
    } as typeof emit
    const { user } = process.cpuUsage()
    t.equal((await read(form.repeat(63 * 1_024), 64_512, false)).at(-1), error, what)
    t.equal(built, parts, `${what}: ${(process.cpuUsage().user - user) / 1_000} ms`)
  }
})

t.test('a boundary has 1 to 70 characters of RFC 2046', async (t) => {
  for (const boundary of ['b', '----WebKitFormBoundary', "a 'b()+_,-./:=?", 'b'.repeat(70)])
    t.equal(boundaryOf(new Map([['boundary', boundary]])), boundary)
  for (const boundary of ['', 'b ', 'b'.repeat(71), 'b*', '\u00e4'])
    t.throws(
      () => boundaryOf(new Map([['boundary', boundary]])),
      { message: /has no boundary of 1 to 70 characters/ },
      boundary,
    )
  t.throws(() => boundaryOf(new Map()), { message: /has no boundary of 1 to 70 characters/ })
})

t.test('a reader that stops ends its source', async (t) => {
  let isGiven = false
  function* chunks() {
    yield Buffer.from(part('a', '1') + head('c'))
    for (let n = 0; n < 100; n++) yield Buffer.alloc(10_000)
    isGiven = true
  }
  const source = boundedStream(Readable.from(chunks(), { objectMode: false }), {})
  for await (const { name } of readParts(source, 'b', 3)) {
    t.equal(name, 'a')
    break
  }
  await until(() => source.destroyed, 'the end of the source')
  t.equal(isGiven, false)
})

t.test('the epilogue is read to its end', async (t) => {
  const source = boundedStream(Readable.from([part('a', '1') + end, 'x', 'y'].map((each) => Buffer.from(each))), {})
  for await (const { name } of readParts(source, 'b', 3)) t.equal(name, 'a')
  t.equal(source.readableEnded, true)
})
