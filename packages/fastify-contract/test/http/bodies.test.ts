import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { openSocket } from '../../../../test/support/open-socket.ts'
import { CoalescingMessage, formParser, type ParseBody, parseText } from '../../src/http/read-body.ts'
import { isEssence, parseContentType } from '../../src/http/request-head.ts'
import { serializeEvent } from '../../src/http/streams.ts'
import { boundedStream } from '../../src/http/upload.ts'

const read = (text: string) => {
  const { essence, parameters } = parseContentType(text) ?? {}
  return essence && [essence, Object.fromEntries(parameters as Map<string, string>)]
}

t.test('a media type is read with its parameters', async (t) => {
  t.same(read('Text/Plain'), ['text/plain', {}])
  t.same(read('a/b;'), ['a/b', {}])
  t.same(read('a/b; C=d;e="f;\\"g" ;; h=i '), ['a/b', { c: 'd', e: 'f;"g', h: 'i' }])
  t.same(read(`a/b;c="${'d'.repeat(990)}"`)?.[0], 'a/b')
})

t.test('malformed, overlong and repeated Content-Type values give undefined', async (t) => {
  const texts = [
    '',
    'a',
    'a/',
    'a/b c',
    'a/b,c/d',
    'a/b;c',
    'a/b;c=',
    'a/b;c="d',
    'a/b;c=d e',
    'a/b;c=1;C=2',
    `a/b;${' '.repeat(1_000)}`,
  ]
  for (const text of texts) t.equal(read(text), undefined, text)
})

t.test('the names of a media type are tokens of RFC 9110, with and without parameters', async (t) => {
  for (const character of "!#$%&'*+.^`|~-_") {
    const text = `a/b${character}c`
    t.equal(isEssence(text), true, text)
    t.same(read(text), [text, {}])
  }
  for (const text of ['a', 'a/', 'a/b;c=d', 'a/b c', 'a/b/c', '']) t.equal(isEssence(text), false, text)
})

const parse = (parser: ParseBody, bytes: Uint8Array) => {
  try {
    return parser(Buffer.from(bytes))
  } catch (error) {
    return (error as Error).message
  }
}
const utf8 = (text: string) => Buffer.from(text)

t.test('text is UTF-8 without U+0000, and its byte order mark is removed', async (t) => {
  t.same(parse(parseText, utf8('\ufeffa\u00e4')), { value: 'a\u00e4', length: 2 })
  t.same(parse(parseText, Buffer.from([0x61, 0xff])), 'body is not UTF-8')
  t.same(parse(parseText, utf8('a\0')), 'body contains the character U+0000')
})

t.test('a form is percent-encoded UTF-8 with a limited number of fields', async (t) => {
  const form = formParser(2)
  t.same(parse(form, utf8('a=b%20c&a=+')), { texts: { a: ['b%20c', '+'] }, length: 11 })
  t.same(parse(form, utf8('a=%C3%A4&%C3%A4=')), { texts: { a: ['%C3%A4'], '\u00e4': [''] }, length: 16 })
  for (const text of ['a=%ff', 'a=%', '%C3=%A4']) t.same(parse(form, utf8(text)), 'body is not percent-encoded UTF-8')
  t.same(parse(form, utf8('a=%00')), 'body contains the character U+0000')
  t.same(parse(form, utf8(' a= b \r\n&\u00a0=\ufeff')), {
    texts: { ' a': [' b \r\n'], '\u00a0': ['\ufeff'] },
    length: 12,
  })
  t.same(parse(form, utf8('')), { texts: {}, length: 0 })
  t.same(parse(form, utf8('&&')), 'the form has more than 2 fields')
})

t.test('a stream fails with the error of its check, of a chunk or at the end', async (t) => {
  const failure = new Error('too many bytes')
  for (const isAtEnd of [false, true]) {
    const source = Readable.from([Buffer.from('one'), Buffer.from('two')], { objectMode: false })
    const check = (length: number, isWhole: boolean) => (isWhole === isAtEnd && length === 6 ? failure : undefined)
    await t.rejects(boundedStream(source, { check }).toArray(), failure)
  }
})

const writeData = (data: unknown) => JSON.stringify(data)

t.test('an event has one line per field, and one data line per line of text', async (t) => {
  t.equal(serializeEvent({ data: { a: 'b\nc' } }, writeData), 'data: {"a":"b\\nc"}\n\n')
  t.equal(serializeEvent({ data: 'a\nb\r\nc\rd' }, writeData), 'data: a\ndata: b\ndata: c\ndata: d\n\n')
  t.equal(
    serializeEvent({ event: 'e', id: '', retry: 0, data: null }, writeData),
    'event: e\nid: \nretry: 0\ndata: null\n\n',
  )
})

t.test('a field with a line break or NUL, or an invalid retry, is rejected', async (t) => {
  for (const field of [{ event: 'a\nb' }, { id: 'a\r' }, { id: '\u0000' }, { retry: -1 }, { retry: 0.5 }]) {
    t.throws(() => serializeEvent({ data: 1, ...field }, writeData), /of an event must be/, JSON.stringify(field))
  }
})

/** Sends a request with the chunks in one write. Returns the request when its header section has arrived. */
async function sending(t: Test, chunks: string[]): Promise<IncomingMessage> {
  const server = createServer({ IncomingMessage: CoalescingMessage })
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const arrived = once(server, 'request') as Promise<[IncomingMessage]>
  const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  await openSocket(t, (server.address() as AddressInfo).port, `${head}${body}0\r\n\r\n`)
  const [request] = await arrived
  return request
}

/** Reads a request's body and returns the lengths of its parts and their joined text. */
async function partsOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return { lengths: parts.map(({ length }) => length), text: Buffer.concat(parts).toString() }
}

t.test('small chunks after the first are joined in order', async (t) => {
  const chunks = Array.from({ length: 5_000 }, (_, n) => String(n))
  const { lengths, text } = await partsOf(await sending(t, chunks))
  t.ok(text === chunks.join(''))
  t.equal(lengths[0], 1)
  t.ok(lengths.length < 5, `${lengths.length} parts`)
})

t.test('a large chunk keeps its position', async (t) => {
  const [large, other] = ['a', 'b'].map((character) => character.repeat(2_000)) as [string, string]
  const { text } = await partsOf(await sending(t, ['1', '2', '3', large, '4', other, '5']))
  t.equal(text, `123${large}4${other}5`)
})
