import t from 'tap'
import { type ClientOptions, exactClient } from '../../src/client/exact-client.ts'
import { normalizedDocument } from '../../src/compile/document/normalize.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { callStyles } from '../../src/compile/emit/client-table.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const string = { type: 'string' }
const plant = {
  type: 'object',
  properties: {
    id: int64,
    name: string,
    tags: { type: 'array', items: string },
    sizes: { type: 'array', items: int64 },
    place: { type: 'object', properties: { bed: int64 } },
    soil: { type: 'object', properties: { ph: int64 } },
    notes: { type: 'array', items: { type: 'object', properties: { at: int64 } } },
    nothing: { type: 'null' },
    page: string,
    facts: { type: 'object', properties: { of: int64 } },
  },
}
const encoding = {
  sizes: { style: 'pipeDelimited', explode: false },
  soil: { style: 'deepObject' },
  notes: { contentType: 'application/json' },
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: {
    '/plants': {
      post: {
        operationId: 'a',
        requestBody: {
          content: {
            'application/json': { schema: plant },
            'application/vnd.plant+json': { schema: plant },
            'application/x-www-form-urlencoded': { schema: plant, encoding },
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: { ...plant.properties, file: {}, files: { type: 'array', items: {} } },
              },
              encoding: {
                notes: { contentType: 'application/json' },
                page: { contentType: 'text/html; charset=utf-8, text/markdown' },
                facts: { contentType: 'Application/vnd.facts+json' },
              },
            },
            'text/plain': { schema: string },
            'image/*': {},
          },
        },
        responses: { 200: { content: { 'application/json': {} } } },
      },
    },
  },
} as unknown as Document

type Plant = {
  id?: bigint
  name?: string
  tags?: string[]
  sizes?: bigint[]
  place?: { bed?: bigint }
  soil?: { ph?: bigint }
  notes?: { at?: bigint }[]
  nothing?: null
  page?: string
  facts?: { of?: bigint }
}
type Bodies = {
  'application/json': Plant
  'application/vnd.plant+json': Plant
  'application/x-www-form-urlencoded': Plant
  'multipart/form-data': Plant & { file?: Blob; files?: Blob[] }
  'text/plain': string
  'image/*': unknown
}
type Reply = { headers: Record<string, unknown>; content: { 'application/json': unknown } }
type Paths = {
  '/plants': { post: { requestBody?: { content: Bodies }; responses: { 200: Reply } } }
}

/** Responds with the body and the content type that the service's handler receives. */
const echo = async ({ body, contentType }: { body: unknown; contentType: string }) => {
  const isParts = typeof body === 'object' && body !== null && Symbol.asyncIterator in body
  const read = isParts ? await collected(body as AsyncIterable<unknown>) : body
  return { status: 200, body: [contentType ?? null, read ?? null] }
}

async function collected(parts: AsyncIterable<unknown>): Promise<unknown> {
  const read: unknown[] = []
  for await (const part of parts) {
    if (part instanceof Uint8Array) read.push(Buffer.from(part).toString())
    else {
      const { name, value, filename, stream } = part as Record<string, unknown>
      read.push([name, stream === undefined ? value : [filename, await collected(stream as AsyncIterable<unknown>)]])
    }
  }
  return read
}

const app = await serveDocument(document, { handlers: { a: echo as unknown as AnyHandler } })
const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())
const table = { parameters: callStyles(normalizedDocument(document)) }
const client = exactClient<Paths>(table, { baseUrl } satisfies ClientOptions)

/** Returns the data of a successful response, otherwise the status and the error. */
const sent = async (call: Promise<{ response: Response; data?: unknown; error?: unknown }>) => {
  const { data, error, response } = await call
  return response.ok ? data : [response.status, error]
}

const large = 9007199254740991n
const all: Plant = {
  id: large,
  name: 'a b&c=ä',
  tags: ['x,y', ''],
  sizes: [1n, large],
  place: { bed: large },
  soil: { ph: 7n },
  notes: [{ at: large }],
  nothing: null,
}
const shown = JSON.parse(JSON.stringify(all, (_key, value) => (typeof value === 'bigint' ? Number(value) : value)))

t.test('a call sends a body in each media type of its operation, and the service reads the same', async (t) => {
  const post = client.POST
  t.same(await sent(post('/plants')), [null, null])
  t.same(await sent(post('/plants', { body: all })), ['application/json', shown])
  for (const contentType of ['application/vnd.plant+json', 'application/x-www-form-urlencoded'] as const) {
    t.same(await sent(post('/plants', { contentType, body: all })), [contentType, shown])
  }
  const { name, ...others } = all
  const file = new Blob(['a'], { type: 'image/png' })
  const body = { ...others, file, files: [new File(['b'], 'b.png'), file] }
  t.same(await sent(post('/plants', { contentType: 'multipart/form-data', body })), [
    'multipart/form-data',
    [
      ['id', Number(large)],
      ['tags', 'x,y'],
      ['tags', ''],
      ['sizes', 1],
      ['sizes', Number(large)],
      ['place', shown.place],
      ['soil', shown.soil],
      ['notes', shown.notes[0]],
      ['nothing', null],
      ['file', ['blob', ['a']]],
      ['files', ['b.png', ['b']]],
      ['files', ['blob', ['a']]],
    ],
  ])
  t.same(await sent(post('/plants', { contentType: 'text/plain', body: 'a\nä' })), ['text/plain', 'a\nä'])
  const bytes = new TextEncoder().encode('bytes')
  for (const body of [bytes, bytes.buffer as ArrayBuffer, new Blob([bytes]), new Blob([bytes]).stream()]) {
    t.same(await sent(post('/plants', { contentType: 'image/png', body })), ['image/png', ['bytes']])
  }
})

t.test('each form part has the media type of its encoding and keeps its line breaks', async (t) => {
  const contentType = 'multipart/form-data'
  const text = 'a\nb\r\nc\rd'
  const body = { name: text, page: `<p>${text}`, facts: { of: large }, tags: ['x', undefined as never, text] }
  t.same(await sent(client.POST('/plants', { contentType, body })), [
    contentType,
    [
      ['name', text],
      ['page', `<p>${text}`],
      ['facts', { of: Number(large) }],
      ['tags', 'x'],
      ['tags', text],
    ],
  ])
})

t.test('a field that its style cannot represent is rejected before anything is sent', async (t) => {
  const wrong = { soil: { 'a[b]': 1n } } as Plant
  const call = client.POST('/plants', { contentType: 'application/x-www-form-urlencoded', body: wrong })
  await t.rejects(call, new TypeError('body/soil: the name of a property cannot contain a bracket'))
})

t.test('a body of another media type does not compile', async (t) => {
  const calls = () => [
    // @ts-expect-error
    client.POST('/plants', { contentType: 'text/plain', body: all }),
    // @ts-expect-error
    client.POST('/plants', { body: 'text' }),
    // @ts-expect-error
    client.POST('/plants', { contentType: 'multipart/form-data', body: { file: 'text' } }),
    // @ts-expect-error
    client.POST('/plants', { contentType: 'image/png', body: 1 }),
  ]
  t.type(calls, 'function')
})

t.test('a list of items is sent as JSON Lines, which the service reads one by one', async (t) => {
  const contentType = 'application/x-ndjson'
  const lines = {
    ...document,
    paths: {
      '/lines': {
        post: {
          operationId: 'a',
          requestBody: { required: true, content: { [contentType]: { schema: { type: 'array', items: plant } } } },
          responses: { 200: { content: { 'application/json': {} } } },
        },
      },
    },
  }
  const read = async ({ body }: { body: AsyncIterable<Plant> }) => {
    const items: unknown[] = []
    for await (const item of body) items.push(item)
    return { status: 200, body: items }
  }
  const app = await serveDocument(lines, { handlers: { a: read as unknown as AnyHandler } })
  t.teardown(() => app.close())
  const { POST } = exactClient<{
    '/lines': {
      post: {
        kinds: { [contentType]: 'lines' }
        requestBody: { content: { [contentType]: Plant } }
        responses: { 200: Reply }
      }
    }
  }>({}, { baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) })
  const send = (body: Plant[] | string) => sent(POST('/lines', { contentType, body }))
  t.same(await send([{ id: 1n, name: 'a\nb' }, { tags: ['c'] }]), [{ id: 1, name: 'a\nb' }, { tags: ['c'] }])
  t.same(await send([]), [])
  t.same(await send('{"id":2}'), [{ id: 2 }])
  t.match(await send([{ id: 2n ** 63n }]), [400, { message: 'line 1: body/id must be an int64 integer' }])
})
