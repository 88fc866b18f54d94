import { bearer } from 'fastify-contract'
import type { Events } from 'fastify-contract/handlers'
import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async findBoxes({ body: { size } }) {
    return { status: 200, body: [{ size }] }
  },
  async copyBoxes({ header }) {
    return { status: 201, headers: { Location: header.Destination }, body: undefined }
  },
  async listLines() {
    return {
      status: 200,
      body: (async function* () {
        yield { size: 1 }
        yield { size: 2 }
      })(),
    }
  },
  async addLines({ body }) {
    const ids: bigint[] = []
    for await (const { id } of body) ids.push(id)
    return { status: 200, body: ids }
  },
  async followBoxes() {
    return {
      status: 200,
      body: (async function* () {
        yield { event: 'box', id: '7', data: { size: 1 } }
      })(),
    }
  },
  async addEvents({ body }) {
    const events: unknown[] = []
    for await (const event of body) {
      const id: bigint = event.data.id
      events.push({ ...event, data: id })
    }
    return { status: 200, body: events }
  },
  async listReplies() {
    return {
      status: 200,
      body: (async function* () {
        yield { size: 1 }
        yield { size: 2 }
      })(),
    }
  },
  addReplies: ({ body }) => dataOf(body),
  replaceReplies: ({ body }) => dataOf(body),
  patchReplies: ({ body }) => dataOf(body),
  async searchBoxes({ query: { criteria } }) {
    const id: bigint | undefined = criteria.id
    return { status: 200, body: { ...criteria, ...(id !== undefined && { id: id + 0n }) } }
  },
  async filterBoxes({ query: { filter } }) {
    const id: bigint | undefined = filter?.[0]?.id
    return { status: 200, body: { filter, first: id } }
  },
  async listShelves() {
    return { status: 204, body: undefined }
  },
  addVehicle: async ({ body = {} }) => ({ status: 200, body }),
  async addShip({ body: { kind, tons } }) {
    const known: string | undefined = kind
    return { status: 200, body: [known ?? 'none', tons + 1n] }
  },
  async addShape() {
    return { status: 204, body: undefined }
  },
}

async function dataOf(events: Events<unknown> = (async function* () {})()) {
  const all: unknown[] = []
  for await (const { data } of events) all.push(data)
  return { status: 200 as const, body: all }
}

export const verifiers = { device: bearer((token) => ({ name: 'reader', scopes: [token] })) }

const shape = (send: unknown, status: number): Call => ({ request: 'POST /shapes', send, status })

const vehicle = (text: string, status: number): Call => ({
  request: 'POST /vehicles',
  send: text,
  status,
  ...(status === 200 && { body: text }),
})

const search = (query: string) => ({ request: `GET /search?${query}` })
const filter = (query: string) => ({ request: `GET /filter?${query}` })
const refused = (message: RegExp) => ({ status: 400, error: 40003, body: message })

const queries: Call[] = [
  {
    ...search('id=9007199254740993&tags=a&tags=b%26+c&sizes=1,2&near[at][]=1.5&raw=%7B%22id%22:9007199254740993%7D'),
    body: '{"id":9007199254740993,"tags":["a","b& c"],"sizes":[1,2],"near":{"at":[1.5]},"raw":{"id":9007199254740993}}',
  },
  { ...search('tags=a&tag%73=b'), body: '{"tags":["a","b"]}' },
  { ...search(''), ...refused(/"query must have required property 'criteria'/) },
  { request: 'GET /search', ...refused(/"query must have required property 'criteria'/) },
  { ...search('id=x'), ...refused(/"query\/criteria\/id must be an int64 integer/) },
  { ...search('id=1&id=2'), ...refused(/"query\/criteria\/id must be given once/) },
  { ...search('other=1'), ...refused(/"query\/criteria must NOT have additional properties/) },
  { ...search('near[at=1'), ...refused(/"query\/criteria\/near must have balanced brackets/) },
  { ...search('tags=%ff'), status: 400, error: 40001 },
  {
    ...filter('%5B%7B%22id%22%3A9007199254740993%7D%5D'),
    body: '{"filter":[{"id":9007199254740993}],"first":9007199254740993}',
  },
  { request: 'GET /filter', body: '{}' },
  { ...filter('[]'), ...refused(/"query\/filter must NOT have fewer than 1 items/) },
  { ...filter('[{"id":"1"}]'.replaceAll('"', '%22')), ...refused(/"query\/filter\/0\/id must be an int64 integer/) },
  { ...filter('%5B'), ...refused(/"query\/filter cannot be parsed as JSON/) },
  { ...filter('%5B%5D&a=1'), ...refused(/"query\/filter must be one percent-encoded string/) },
  { ...filter('%5B%5D=1'), ...refused(/"query\/filter must be one percent-encoded string/) },
]

const lines = (send: string) => ({ request: 'POST /lines', headers: { 'content-type': 'application/jsonl' }, send })

const sentLines: Call[] = [
  { ...lines('{"id":9007199254740993}\n{"id":2,"secret":1}\r\n\n {"id":3}'), body: '[9007199254740993,2,3]' },
  { ...lines('\n'), body: '[]' },
  { ...lines(`{"id":1}\n`.repeat(20_000)) },
  { ...lines('{"id":1}\n{"id":"2"}\n'), ...refused(/"line 2: body\/id must be an int64 integer/) },
  {
    ...lines('{"id":1}\n\n{"id":1,"id":2}'),
    status: 400,
    error: 40002,
    body: /"line 3 of the body cannot be parsed as JSON: /,
  },
  {
    ...lines(`{"id":1}\n"${'a'.repeat(1_048_576)}"`),
    status: 413,
    error: 41300,
    body: /"line 2 of the body has more than/,
  },
  { ...lines('[1,2]'), ...refused(/"line 1: body must be object/) },
]

const sequence = (send: string) => ({
  request: 'POST /lines',
  headers: { 'content-type': 'application/json-seq' },
  send,
})
const events = (request: string, send: string) => ({ request, headers: { 'content-type': 'text/event-stream' }, send })

const sentItems: Call[] = [
  { ...sequence('\x1e{"id":9007199254740993}\n\x1e\x1e{\n"id":2}'), body: '[9007199254740993,2]' },
  { ...sequence('\x1e{"id":1}\n\x1e{"id":"2"}\n'), ...refused(/"item 2: body\/id must be an int64 integer/) },
  { ...sequence('\x1e1'), status: 400, error: 40002, body: /"item 1 of the body may be incomplete/ },
  { ...sequence('\x1e{"id":'), status: 400, error: 40002, body: /"item 1 of the body (cannot|may)/ },
  {
    ...events('POST /events', 'id: 7\nevent: a\nretry: 5\ndata: {"id":\ndata: 9007199254740993}\n\ndata:{"id":2}\n\n'),
    body: '[{"id":"7","event":"a","retry":5,"data":9007199254740993},{"data":2}]',
  },
  {
    ...events('POST /events', 'data: {"id":1}\n\ndata: {"id":"2"}\n\n'),
    ...refused(/"event 2: body\/id must be an int64 integer/),
  },
  {
    ...events('POST /events', ': none\n\ndata: {"id":1}\n\ndata: a\n\n'),
    status: 400,
    error: 40002,
    body: /"the data of event 2 cannot be parsed as JSON: /,
  },
  {
    ...events('POST /events', `data: "${'a'.repeat(1_048_576)}"`),
    status: 413,
    error: 41300,
    body: /"event 1 of the body has more than/,
  },
  {
    ...events(
      'POST /replies',
      ['{"a":1}', '[true]', 'null', '9007199254740993', '[DONE]'].map((one) => `data: ${one}\n\n`).join(''),
    ),
    body: '[{"a":1},[true],null,9007199254740993,"[DONE]"]',
  },
  { ...events('POST /replies', 'data: true\n\n'), ...refused(/"event 1: body /) },
  { ...events('PUT /replies', 'data: {"a":1}\n\ndata\n\n'), body: '["{\\"a\\":1}",""]' },
  { ...events('PATCH /replies', 'data: 5\n\ndata: "a"\n\n'), body: '[5,"\\"a\\""]' },
  { ...events('PATCH /replies', 'data: \0\n\n'), ...refused(/"event 1 of the body contains the character U\+0000/) },
  { request: 'PATCH /replies', body: '[]' },
  { request: 'GET /replies', body: '\x1e{"size":1}\n\x1e{"size":2}\n' },
]

export const calls: Call[] = [
  ...queries,
  ...sentLines,
  ...sentItems,
  { request: 'QUERY /boxes', send: { size: 3 }, body: '[{"size":3}]' },
  { request: 'QUERY /boxes', send: { size: 'large' }, status: 400, error: 40003 },
  { request: 'QUERY /boxes', status: 415, error: 41500 },
  { request: 'COPY /boxes', headers: { destination: '/shelf' }, status: 201, body: '', answer: { location: '/shelf' } },
  { request: 'COPY /boxes', status: 400, error: 40003 },
  { request: 'COPY /lines', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
  { request: 'MOVE /boxes', status: 405, error: 40500, answer: { allow: 'QUERY, COPY' } },
  { request: 'GET /lines', body: '{"size":1}\n{"size":2}\n' },
  { request: 'GET /events', body: /^(:\n\n)?event: box\nid: 7\ndata: {"size":1}\n\n$/ },
  { request: 'GET /shelves', headers: { authorization: 'Bearer read' }, status: 204 },
  { request: 'GET /shelves', headers: { authorization: 'Bearer write' }, status: 403, error: 40300 },
  shape({ kind: 'Circle', radius: 1 }, 204),
  shape({ kind: 'Circle' }, 400),
  shape({ name: 'without a kind' }, 204),
  shape({ kind: 'Square', name: 'of no name' }, 204),
  shape({ kind: 1 }, 400),
  vehicle('{"kind":"truck","load":9007199254740993}', 200),
  vehicle('{"kind":"truck","tons":1}', 400),
  vehicle('{"kind":"Ship","tons":9007199254740993}', 200),
  vehicle('{"kind":"boat","tons":9007199254740993}', 200),
  vehicle('{"tons":9007199254740993}', 200),
  vehicle('{"load":1}', 400),
  vehicle('{"kind":"Vehicle"}', 200),
  { request: 'POST /ships', send: { tons: 1 }, body: '["none",2]' },
  { request: 'POST /ships', send: { kind: 'boat', tons: 1 }, body: '["boat",2]' },
  { request: 'POST /ships', send: { kind: 'truck', tons: 1 }, status: 400, error: 40003 },
]
