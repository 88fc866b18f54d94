import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { int64Responses } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { exactClient, type ReceivedEvent } from '../../src/client/exact-client.ts'

const int64 = { type: 'integer', format: 'int64' }
const tree = { type: 'object', properties: { id: int64 } }
const responses = (content: Record<string, object>) => ({
  200: { content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])) },
  default: { content: { 'application/json': { schema: tree } } },
})

const table = int64Responses({
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: {
    '/lines': {
      get: { responses: responses({ 'application/jsonl': tree }) },
      head: { responses: responses({ 'application/jsonl': tree }) },
    },
    '/sequence': { get: { responses: responses({ 'application/json-seq; a=b': {} }) } },
    '/events': { get: { responses: responses({ 'text/event-stream': tree }) } },
    '/texts': { get: { responses: responses({ 'text/event-stream': { type: 'string' } }) } },
    '/any': { get: { responses: responses({ 'text/event-stream': {} }) } },
    '/mixed': { get: { responses: responses({ 'text/event-stream': { type: ['string', 'integer', 'null'] } }) } },
    '/either': { get: { responses: responses({ 'application/json': tree, 'application/jsonl': tree }) } },
    '/plain': { get: { responses: responses({ 'application/json': {} }) } },
  },
})

type Tree = { id: bigint }
type Answer<Type extends string, Body> = { headers: Record<string, unknown>; content: { [Name in Type]: Body } }
type Get<Type extends string, Body, Kind> = {
  responses: { 200: Answer<Type, Body>; default: Answer<'application/json', Tree> }
  kinds: Record<Type, Kind>
}
type Paths = {
  '/lines': { get: Get<'application/jsonl', Tree, 'lines'>; head: Get<'application/jsonl', Tree, 'lines'> }
  '/sequence': { get: Get<'application/json-seq', unknown, 'lines'> }
  '/events': { get: Get<'text/event-stream', Tree, 'events'> }
  '/texts': { get: Get<'text/event-stream', string, 'events'> }
  '/any': { get: Get<'text/event-stream', unknown, 'events'> }
  '/mixed': { get: Get<'text/event-stream', string | number | null, 'events'> }
  '/either': {
    get: {
      responses: { 200: { content: { 'application/json': Tree; 'application/jsonl': Tree } } }
      kinds: { 'application/jsonl': 'lines' }
    }
  }
  '/plain': { get: { responses: { 200: { content: { 'application/json': unknown } } } } }
}

/** Returns a client whose responses have a body in chunks. */
function clientOf(type: string, chunks: (string | Uint8Array)[], { status = 200 } = {}) {
  const encoder = new TextEncoder()
  const fetch = async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
        controller.close()
      },
    })
    return new Response(body, { status, headers: { 'content-type': type } })
  }
  return exactClient<Paths>(table, { baseUrl: 'http://a', fetch })
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Returns the items of a successful call. */
async function itemsOf<Item>(call: Promise<{ data?: AsyncIterable<Item> | undefined }>): Promise<Item[]> {
  return all((await call).data as AsyncIterable<Item>)
}

/** Returns a text as chunks of one byte each. */
const bytesOf = (text: string): Uint8Array[] =>
  Array.from(new TextEncoder().encode(text), (byte) => Uint8Array.of(byte))

t.test('the items of JSON Lines are typed and exact, wherever chunks end', async (t) => {
  const text = '\ufeff{"id":9007199254740993}\r\n\n{"id":1,"name":"\u00fc"}\n{"id":2}'
  const items = [{ id: 2n ** 53n + 1n }, { id: 1n, name: '\u00fc' }, { id: 2n }]
  for (const chunks of [[text], bytesOf(text)]) {
    const { data, error } = await clientOf('application/jsonl; charset=utf-8', chunks).GET('/lines')
    if (error) throw new Error('there is an error')
    const ids: bigint[] = []
    for await (const item of data) ids.push(item.id)
    t.same(ids, [2n ** 53n + 1n, 1n, 2n])
    t.strictSame(await itemsOf(clientOf('APPLICATION/JSONL', chunks).GET('/lines')), items as Tree[])
  }
  t.same(await itemsOf(clientOf('application/jsonl', []).GET('/lines')), [])
})

t.test('the items of a JSON text sequence follow its separators', async (t) => {
  const text = '\x1e{"a":\n1}\n\x1e"b"\x1e7\n\x1e\x1enull\n'
  for (const chunks of [[text], bytesOf(text)])
    t.same(await itemsOf(clientOf('application/json-seq', chunks).GET('/sequence')), [{ a: 1 }, 'b', 7, null])
  await t.rejects(itemsOf(clientOf('application/json-seq', ['\x1e1\n\x1e12']).GET('/sequence')), {
    name: 'SyntaxError',
    message: 'item 2 of GET /sequence may be incomplete',
  })
})

const eventStreams: Record<string, [text: string, events: ReceivedEvent<unknown>[]]> = {
  'ends each line by LF, CR or CR LF': [
    'data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n',
    [{ data: 1 }, { data: 2 }, { data: 3 }],
  ],
  'has all fields': [
    'event: a\nid: 7\nretry: 10\ndata: {"b":\ndata:1}\n\n',
    [{ data: { b: 1 }, event: 'a', id: '7', retry: 10 }],
  ],
  'removes one space': ['data:  a\n\ndata:"b"\n\n', [{ data: ' a' }, { data: '"b"' }]],
  'ignores comments, unknown fields and invalid values': [
    ': comment\nother: 1\nid: a\0b\nretry: 1s\nDATA: 2\n data: 3\ndata: 4\n\n',
    [{ data: 4 }],
  ],
  'has fields without a colon': ['data\nevent\nid\n\n', [{ data: '', id: '' }]],
  'ignores an event without data, but not its id and retry': [
    'event: a\nid: 1\nretry: 5\n\nid: 2\n\ndata: 1\n\ndata: 2\n\n',
    [{ data: 1, id: '2', retry: 5 }, { data: 2 }],
  ],
  'does not have an event that no empty line ends': ['data: 1\n\ndata: 2\n', [{ data: 1 }]],
  'has the last type of an event': ['event: a\nevent: b\ndata: 1\n\n', [{ data: 1, event: 'b' }]],
}

for (const [name, [text, events]] of Object.entries(eventStreams))
  t.test(`an event stream ${name}`, async (t) => {
    for (const chunks of [[text], bytesOf(text), [`\ufeff${text}`]])
      t.strictSame(await itemsOf(clientOf('text/event-stream', chunks).GET('/any')), events)
  })

t.test('the data of an event are a value of its schema', async (t) => {
  const { data } = await clientOf('text/event-stream', ['id: a\ndata: {"id":9007199254740993}\n\n']).GET('/events')
  const [event] = await all(data as NonNullable<typeof data>)
  const id: bigint | undefined = event?.data.id
  t.strictSame([id, event?.id], [2n ** 53n + 1n, 'a'])
  const texts = [
    'data: 1\n\ndata: null\n\ndata: true\n\ndata: 12345678901234567\n\ndata: [1]\n\ndata: [1\n\ndata: "a"\n\n',
  ]
  const read = async (path: '/texts' | '/mixed') =>
    (await itemsOf<{ data: unknown }>(clientOf('text/event-stream', texts).GET(path))).map(({ data }) => data)
  t.strictSame(await read('/texts'), ['1', 'null', 'true', '12345678901234567', '[1]', '[1', '"a"'])
  t.strictSame(await read('/mixed'), [1, null, 'true', 12345678901234567n, '[1]', '[1', '"a"'])
  await t.rejects(itemsOf(clientOf('text/event-stream', ['data: {"id":1}\n\ndata: x\n\n']).GET('/events')), {
    name: 'SyntaxError',
    message: /^event 2 of GET \/events: /,
  })
})

t.test('an item that is too long ends the iteration with an error', async (t) => {
  const long = `${' '.repeat(20)}{"id":1}\n`
  for (const chunks of [[long], bytesOf(long)]) {
    const items = itemsOf(clientOf('application/jsonl', chunks).GET('/lines', { maxItemLength: 27 }))
    await t.rejects(items, {
      name: 'RangeError',
      message: 'an item of GET /lines has more than 27 characters; set maxItemLength',
    })
    t.same(await itemsOf(clientOf('application/jsonl', chunks).GET('/lines', { maxItemLength: 28 })), [{ id: 1n }])
  }
  const event = 'data: 1\ndata: 2\n\n'
  await t.rejects(
    itemsOf(clientOf('text/event-stream', [event]).GET('/texts', { maxItemLength: 13 })),
    /has more than 13/,
  )
  t.same(await itemsOf(clientOf('text/event-stream', [event + event]).GET('/texts', { maxItemLength: 14 })), [
    { data: '1\n2' },
    { data: '1\n2' },
  ])
  const endless = async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)),
    })
    return new Response(body, { headers: { 'content-type': 'application/jsonl' } })
  }
  const client = exactClient<Paths>(table, { baseUrl: 'http://a', fetch: endless, maxItemLength: 100_000 })
  await t.rejects(itemsOf(client.GET('/lines')), /has more than 100000 characters/)
  await t.rejects(itemsOf(client.GET('/lines', { maxItemLength: undefined as never })), /has more than 100000/)
})

t.test('an item that is not JSON ends the iteration with its number', async (t) => {
  const { data } = await clientOf('application/jsonl', ['{"id":1}\n\n{"id":\n{"id":3}\n']).GET('/lines')
  const ids: bigint[] = []
  const read = async () => {
    for await (const { id } of data as NonNullable<typeof data>) ids.push(id)
  }
  await t.rejects(read(), { name: 'SyntaxError', message: /^item 2 of GET \/lines: / })
  t.same(ids, [1n])
})

t.test('the media type of the response chooses between a value and items', async (t) => {
  const value = await clientOf('application/json', ['{"id":1}']).GET('/either')
  t.strictSame(value.data as unknown, { id: 1n })
  const items = (await clientOf('application/jsonl', ['{"id":1}\n']).GET('/either')).data
  if (!(Symbol.asyncIterator in items)) throw new Error('the type is a value or items')
  t.strictSame(await all<Tree>(items), [{ id: 1n }])
  await t.rejects(clientOf('application/jsonl', ['1\n2\n']).GET('/plain'), SyntaxError, 'the document lists no items')
  await t.rejects(clientOf('text/html', ['<p>']).GET('/lines'), SyntaxError, 'the page of a proxy is not an item')
  await t.rejects(clientOf('', ['<p>']).GET('/lines'), SyntaxError)
  const failed = await clientOf('application/jsonl', ['{"id":1}'], { status: 503 }).GET('/lines')
  t.strictSame(failed.error, { id: 1n }, 'an error is read whole')
})

t.test('a stream is text or bytes with parseAs', async (t) => {
  const client = () => clientOf('application/jsonl', ['{"id":1}\n'])
  const text: string | undefined = (await client().GET('/lines', { parseAs: 'text' })).data
  t.equal(text, '{"id":1}\n')
  const stream = (await client().GET('/lines', { parseAs: 'stream' })).data
  t.equal(await new Response(stream).text(), '{"id":1}\n')
})

/** Starts a server. Returns a client of it. */
async function serve(t: Test, type: string, answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type })
    answer(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return exactClient<Paths>(table, { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

t.test('a stream that breaks ends the iteration with an error, after the items before it', async (t) => {
  for (const [type, path, text] of [
    ['application/jsonl', '/lines', '{"id":1}\n{"id":2}'],
    ['text/event-stream', '/events', 'data: {"id":1}\n\ndata: {"id":2}\n'],
  ] as const) {
    let breakStream = () => {}
    const client = await serve(t, type, (response) => {
      response.write(text)
      breakStream = () => response.destroy()
    })
    const { data } = await client.GET(path)
    const read: unknown[] = []
    const reading = async () => {
      for await (const item of data as AsyncIterable<unknown>) {
        read.push(item)
        breakStream()
      }
    }
    await t.rejects(reading(), { name: 'TypeError', message: 'terminated' })
    t.equal(read.length, 1)
  }
})

t.test('items are read as they arrive, and leaving the loop closes the connection', async (t) => {
  let close = () => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const client = await serve(t, 'application/jsonl', (response) => {
    response.write('{"id":1}\n')
    response.on('close', () => close())
  })
  const { data } = await client.GET('/lines')
  for await (const { id } of data as NonNullable<typeof data>) {
    t.equal(id, 1n)
    break
  }
  await closed
})

t.test('a signal ends the iteration with its reason', async (t) => {
  const stop = new AbortController()
  const client = await serve(t, 'application/jsonl', (response) => response.write('{"id":1}\n'))
  const { data } = await client.GET('/lines', { signal: stop.signal })
  const reading = async () => {
    for await (const _ of data as NonNullable<typeof data>) stop.abort(new Error('enough'))
  }
  await t.rejects(reading(), { message: 'enough' })
})

t.test('the response to HEAD has no items', async (t) => {
  const client = await serve(t, 'application/jsonl', (response) => response.end())
  const none: undefined = (await client.HEAD('/lines')).data
  t.equal(none, undefined)
})
