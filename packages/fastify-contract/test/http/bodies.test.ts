import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { isEssence, parseContentType } from '../../src/contract/media-types.ts'
import { bodyMemory, CoalescingMessage } from '../../src/http/body-memory.ts'
import { type ParseBody, readBody } from '../../src/http/read-body.ts'
import { readEvents } from '../../src/http/read-events.ts'
import { type ByteStream, endSource, serializeEvent, streamParts } from '../../src/http/streams.ts'
import { boundedStream } from '../../src/http/upload.ts'
import { parseText } from '../../src/request/content-type-parsers.ts'
import { formParser } from '../../src/request/form-body.ts'

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

t.test('server-sent events are interpreted as WHATWG HTML says, however they are split', async (t) => {
  const eventsOf = async (text: string, size: number, limit = 60) => {
    const bytes = Buffer.from(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const events: object[] = []
    for await (const event of readEvents(Readable.from(chunks), limit)) events.push(event)
    return events
  }
  const cases: [string, ...object[]][] = [
    ['data: PLANT\ndata: +2\ndata: 10\n\n', { data: 'PLANT\n+2\n10' }],
    [
      ': test\n\ndata: a\nid: 1\n\ndata:b\nid\n\ndata:  c\n\n',
      { data: 'a', id: '1' },
      { data: 'b', id: '' },
      { data: ' c' },
    ],
    ['data\n\ndata\ndata\n\ndata:', { data: '' }, { data: '\n' }],
    ['data:test\n\ndata: test\n\n', { data: 'test' }, { data: 'test' }],
    ['\ufeffdata: a\r\n\r\ndata: b\r\rdata: c\n\n', { data: 'a' }, { data: 'b' }, { data: 'c' }],
    ['event: a\n\ndata: b\nevent:\n\n', { data: 'b' }],
    ['event: a\nretry: 10\ndata: b:c\nother: d\n\n', { event: 'a', retry: 10, data: 'b:c' }],
    ['retry: -1\nretry: 1.5\nData: a\ndata: b\n\n', { data: 'b' }],
    [''],
  ]
  for (const [text, ...events] of cases)
    for (const size of [1, 2, 3, 1_000]) t.same(await eventsOf(text, size), events, `${JSON.stringify(text)} ${size}`)
  await t.rejects(eventsOf('data: a\n\ndata: b\ndata: c\n\n', 5, 10), /event 2 of the body has more than 10 bytes/)
  await t.rejects(eventsOf(`data: a\n\ndata: ${'b'.repeat(9)}`, 50, 10), /event 2 of the body has more than 10 bytes/)
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
  for (const field of [{ event: 'a\nb' }, { id: 'a\r' }, { id: '\u0000' }, { retry: -1 }, { retry: 0.5 }])
    t.throws(() => serializeEvent({ data: 1, ...field }, writeData), /of an event must be/, JSON.stringify(field))
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

/** Starts to read a body. Returns its stream and a list that gets the outcome: the text or the name of an error. */
function reading({ limit = 4, announced = 0, has = '', complete = false, memory = bodyMemory(1e6, () => {}) }) {
  const request = new PassThrough()
  request.write(has)
  if (complete) request.end()
  const outcomes: unknown[] = []
  const message = Object.assign(request, { complete }) as unknown as IncomingMessage
  readBody(message, { announced, limit, memory }, (error, bytes) => outcomes.push(error?.kind ?? String(bytes)))
  return { request, outcomes }
}

const later = () => new Promise((resolve) => setImmediate(resolve))

t.test('a body that has already arrived is read at once', async (t) => {
  t.same(reading({ has: 'abcd', complete: true }).outcomes, ['abcd'])
  t.same(reading({ complete: true }).outcomes, [''])
  t.same(reading({ has: 'abcde', complete: true }).outcomes, ['bodyTooLarge'])
})

t.test('all parts of a body that has arrived are read at once, and the request ends', async (t) => {
  const chunks = ['1', '2', 'a'.repeat(2_000), '3']
  const request = await sending(t, chunks)
  await later()
  t.ok(request.complete)
  const outcomes: unknown[] = []
  readBody(request, { announced: 0, limit: 4_000, memory: bodyMemory(1e6, () => {}) }, (_, bytes) =>
    outcomes.push(String(bytes)),
  )
  t.same(outcomes, [chunks.join('')])
  await until(() => request.readableEnded, 'the end of the request')
})

t.test('a later body is read when it is complete', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  await later()
  t.same(outcomes, [])
  request.end('cd')
  await later()
  t.same(outcomes, ['abcd'])
})

t.test('a body over the limit is rejected once, by its announced or its received length', async (t) => {
  t.same(reading({ announced: 5 }).outcomes, ['bodyTooLarge'])
  const { request, outcomes } = reading({ has: 'abcde' })
  await later()
  t.same(outcomes, ['bodyTooLarge'])
  request.end('fghij')
  await later()
  t.same(outcomes, ['bodyTooLarge'])
})

t.test('the error of an oversized body names the limit', async (t) => {
  const request = Object.assign(new PassThrough(), { complete: false }) as unknown as IncomingMessage
  const memory = bodyMemory(1e6, () => {})
  readBody(request, { announced: 5, limit: 4, memory }, (error) =>
    t.equal(error?.message, 'the body has more than 4 bytes'),
  )
})

t.test('an aborted body gives an error', async (t) => {
  const { request, outcomes } = reading({ has: 'ab' })
  request.destroy(new Error('aborted'))
  await later()
  t.same(outcomes, ['malformedRequest'])
})

t.test('the parts of a body are joined in order', async (t) => {
  const text = Array.from({ length: 10_000 }, (_, n) => n).join('')
  const { request, outcomes } = reading({ limit: 100_000 })
  for (const character of text) request.write(character)
  request.end()
  await once(request, 'close')
  t.ok(outcomes[0] === text)
})

t.test('bodies that arrive in parts share a memory limit, and each releases its memory however it ends', async (t) => {
  let shed = 0
  const memory = bodyMemory(9_000, () => shed++)
  const begin = () => reading({ limit: 8_000, has: 'a'.repeat(5_000), memory })
  for (const end of [
    ({ request }: ReturnType<typeof begin>) => request.end(),
    ({ request }: ReturnType<typeof begin>) => request.destroy(),
    ({ request }: ReturnType<typeof begin>) => request.end('b'.repeat(3_001)),
  ]) {
    const first = begin()
    await later()
    const second = begin()
    await later()
    t.same([first.outcomes, second.outcomes], [[], ['unavailable']])
    end(first)
    await later()
    t.equal(first.outcomes.length, 1)
  }
  t.equal(shed, 3)
  t.equal(memory.reserve(9_000, 0), undefined, 'the memory of the body is released')
})

const write = (item: string) => item

t.test('a silent source gets keep-alive parts, and items keep their order', async (t) => {
  async function* source() {
    yield 'a'
    await sleep(50)
    yield 'b'
  }
  const { signal } = new AbortController()
  const seen: string[] = []
  for await (const part of streamParts(source(), {
    write,
    end: signal,
    keepAlive: { opening: 10, time: 10, text: '-' },
  }))
    seen.push(String(part))
  t.match(seen.join(''), /^a-+b$/)
})

t.test('an abort ends a silent source, whose later errors are ignored', async (t) => {
  let isEnded = false
  const source = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<string>>((_, reject) => setTimeout(reject, 20, new Error('late'))),
      return: async () => {
        isEnded = true
        throw new Error('at the end')
      },
    }),
  }
  const controller = new AbortController()
  const parts = streamParts(source, { write, end: controller.signal })
  const next = parts.next()
  controller.abort()
  t.same(await next, { value: undefined, done: true })
  t.equal(isEnded, true)
  await sleep(30)
})

t.test('an item is not lost during a keep-alive, and an invalid item ends the source', async (t) => {
  async function* source() {
    yield 'a'
    await sleep(15)
    yield 'b'
    yield 'no'
  }
  const { signal } = new AbortController()
  const checked = (item: string) => {
    if (item === 'no') throw new Error('must not leave')
    return item
  }
  const parts = streamParts(source(), { write: checked, end: signal, keepAlive: { opening: 10, time: 10, text: '-' } })
  const seen: string[] = []
  await t.rejects(
    (async () => {
      for await (const part of parts) {
        seen.push(String(part))
        // The source continues while a slow client reads a part.
        await sleep(20)
      }
    })(),
    { message: 'must not leave' },
  )
  t.match(seen.join(''), /^a-*b-*$/)
})

t.test('a source without a return method can be ended', async (t) => {
  const source = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 'a', done: false }) }) }
  const parts = streamParts(source, { write, end: new AbortController().signal })
  t.equal((await parts.next()).value, 'a')
  t.match(await parts.return(undefined), { done: true })
})

t.test('an aborted stream does not read its source', async (t) => {
  let isAsked = false
  async function* source() {
    isAsked = true
    yield 'a'
  }
  const parts = streamParts(source(), { write, end: AbortSignal.abort() })
  t.match(await parts.next(), { done: true })
  t.equal(isAsked, false)
})

t.test('the first keep-alive part is sent after the opening delay, the next after the full interval', async (t) => {
  const source = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<string>>(() => {}) }) }
  const controller = new AbortController()
  const keepAlive = { opening: 10, time: 600_000, text: '-' }
  const parts = streamParts(source, { write, end: controller.signal, keepAlive })
  t.equal((await parts.next()).value, '-')
  const next = parts.next()
  t.equal(await Promise.race([next, sleep(50, 'silent')]), 'silent')
  controller.abort()
  t.match(await next, { done: true })
})

t.test('errors of the cleanup of a source are ignored, thrown or rejected', async (t) => {
  const iteratorOf = (finish: () => unknown) => () => ({ next: async () => ({ done: true }), return: finish })
  const fail = () => {
    throw new Error('what a cleanup throws')
  }
  const sources = [
    { [Symbol.asyncIterator]: fail },
    { [Symbol.asyncIterator]: iteratorOf(fail) },
    { [Symbol.asyncIterator]: iteratorOf(async () => fail()) },
    { [Symbol.asyncIterator]: iteratorOf(() => undefined) },
    { [Symbol.asyncIterator]: iteratorOf(() => undefined), destroy: fail },
  ]
  for (const source of sources) t.doesNotThrow(() => endSource(source as unknown as ByteStream))
})
