import { Readable } from 'node:stream'
import { ContractError, type ErrorBody } from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async getHeaders({ path }) {
    if (path.case === 'none') return { status: 204, headers: { Location: '/a?b' }, body: undefined }
    if (path.case === 'reason') return { status: 404, headers: { 'X-Reason': 'gone' }, body: 'no' }
    if (path.case === 'refused') return { status: 400, body: 'no' }
    const given = { 'X-Total': 9007199254740993n, 'X-Name': 'fern', 'X-List': [1, 2], 'X-Flat': { a: 1, b: 2 } }
    const more = { 'X-Pairs': { a: true, b: false }, 'Set-Cookie': ['a=1; Path=/', 'b=2'], Vary: 'Cookie' }
    return { status: 200, headers: { ...given, ...more }, body: 'ok' }
  },
  async getText({ path }) {
    if (path.case === 'xml') return { status: 201, body: '<a>\u00e4</a>' }
    if (path.case === 'version') return { status: 202, body: 9007199254740993n }
    if (path.case === 'charset') return { status: 203, body: 'a' }
    if (path.case === 'bytes') return { status: 200, body: Buffer.from('bytes of any length') }
    return { status: 200, body: path.case }
  },
  async getFile({ path, signal }) {
    const headers = { ETag: '"1"' }
    if (signal.aborted) throw new Error('nobody has gone')
    switch (path.case) {
      case 'buffer':
        return { status: 200, headers, body: Buffer.from([0xff, 0xd8]) }
      case 'stream':
        return { status: 200, headers, body: Readable.from([Buffer.from('ab'), Buffer.from('c')]) }
      case 'web':
        return { status: 200, headers, body: new Blob(['web']).stream() }
      case 'generator':
        return { status: 200, headers, body: parts('ab', 'c') }
      case 'empty':
        return { status: 200, headers, body: parts() }
      case 'failing':
        return { status: 200, headers, body: failing() }
      case 'png':
        return { status: 206, contentType: 'image/png', body: new Uint8Array([0x89]) }
      case 'json':
        return { status: 299, contentType: 'application/vnd.any+json', body: { id: 9007199254740993n } }
      case 'text':
        return { status: 299, contentType: 'text/markdown', body: '# a' }
      default:
        return { status: 299, contentType: 'application/zip', body: parts('zip') }
    }
  },
  async listPlants({ accept, query: { status } }) {
    if (status === 404) return { status, contentType: 'application/problem+json', body: { title: 'none' } }
    if (status === 400) return { status, contentType: 'application/json', body: 'no' }
    if (accept === 'text/csv') return { status: 200, contentType: accept, body: 'id\n1\n' }
    if (accept === 'application/json') return { status: 200, contentType: accept, body: [{ id: 1n }] }
    return { status: 200, contentType: accept, body: { id: 2n } }
  },
  async getMedia({ accept, path: { type } }) {
    const isOffered: boolean = accept === 'application/json' || accept === 'text/plain'
    if (type === 'json') return { status: 200, contentType: 'application/json', body: { id: 9007199254740993n } }
    if (type === 'accepted') return { status: 200, contentType: 'text/plain', body: `${accept} ${isOffered}` }
    if (type === 'audio') return { status: 200, contentType: 'audio/ogg', body: Buffer.from(type) }
    if (type === 'image') return { status: 200, contentType: 'image/png', body: Buffer.from(type) }
    return { status: 206, contentType: 'video/mp4', body: Buffer.from(type) }
  },
  async followPlants() {
    async function* events() {
      yield { data: { id: 9007199254740993n, secret: 1 } }
      yield { event: 'added', id: '2', retry: 10, data: { id: 2n } }
    }
    return { status: 200, headers: { 'X-Stream': 'a' }, body: events() }
  },
  async exportPlants({ accept }) {
    async function* plants() {
      yield { id: 9007199254740993n, secret: 1 }
      yield { id: 2n }
    }
    return { status: 200, contentType: accept, body: plants() }
  },
  async addPlant({ accept }) {
    if (accept === 'text/plain') return { status: 400, contentType: accept, body: 'no' }
    return { status: 400, contentType: accept, body: accept }
  },
}

/** Returns each error of the service as its message. */
export const errorBody: ErrorBody<operations> = ({ message }) => ({ contentType: 'application/json', body: message })

async function* parts(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

// biome-ignore lint/correctness/useYield: it fails before its first part
async function* failing(): AsyncGenerator<Uint8Array> {
  throw new ContractError('noSuchPath', 'there is no such file')
}

const text = (type: string) => ({ 'content-type': type })
const list = (accept?: string) => ({ request: 'GET /plants', ...(accept !== undefined && { headers: { accept } }) })

export const calls: Call[] = [
  {
    request: 'GET /headers/all',
    body: '"ok"',
    answer: {
      'x-total': '9007199254740993',
      'x-name': 'fern',
      'x-list': '1,2',
      'x-flat': 'a,1,b,2',
      'x-pairs': 'a=true,b=false',
      'set-cookie': ['a=1; Path=/', 'b=2'],
      vary: 'Cookie',
      'content-length': '4',
    },
  },
  { request: 'GET /headers/none', status: 204, body: '', answer: { location: '/a?b' } },
  { request: 'GET /headers/reason', status: 404, body: '"no"', answer: { 'x-reason': 'gone' } },
  { request: 'GET /headers/refused', status: 400, body: '"no"' },
  { request: 'GET /texts/%C3%A4', body: '\u00e4', answer: text('text/plain; charset=utf-8') },
  { request: 'GET /texts/bytes', body: 'bytes of any length' },
  { request: 'GET /texts/xml', status: 201, body: '<a>\u00e4</a>', answer: text('application/xml; charset=utf-8') },
  {
    request: 'GET /texts/version',
    headers: { accept: 'text/html' },
    status: 202,
    body: '9007199254740993',
    answer: text('application/vnd.tree+json; version=2; charset=utf-8'),
  },
  { request: 'GET /texts/charset', status: 203, body: '"a"', answer: text('application/json;charset=UTF-8') },
  { request: 'GET /files/buffer', answer: { ...text('image/jpeg'), 'content-length': '2', etag: '"1"' } },
  { request: 'HEAD /files/buffer', body: '', answer: { 'content-length': '2', etag: '"1"' } },
  { request: 'GET /files/stream', body: 'abc', answer: { ...text('image/jpeg'), etag: '"1"' } },
  { request: 'HEAD /files/stream', body: '', answer: { ...text('image/jpeg'), etag: '"1"' } },
  { request: 'GET /files/web', body: 'web' },
  { request: 'GET /files/generator', body: 'abc' },
  { request: 'GET /files/empty', body: '', answer: text('image/jpeg') },
  {
    request: 'GET /files/failing',
    status: 404,
    body: '"there is no such file"',
    answer: text('application/json; charset=utf-8'),
  },
  { request: 'GET /files/png', status: 206, answer: text('image/png') },
  { request: 'GET /files/json', status: 299, body: '{"id":9007199254740993}' },
  { request: 'GET /files/text', status: 299, body: '# a', answer: text('text/markdown; charset=utf-8') },
  { request: 'GET /files/zip', status: 299, body: 'zip', answer: text('application/zip') },
  {
    request: 'GET /events',
    body: 'data: {"id":9007199254740993}\n\nevent: added\nid: 2\nretry: 10\ndata: {"id":2}\n\n',
    answer: { ...text('text/event-stream'), 'x-stream': 'a' },
  },
  { request: 'HEAD /events', body: '', answer: { ...text('text/event-stream'), 'x-stream': 'a' } },
  { request: 'GET /lines', body: '{"id":9007199254740993}\n{"id":2}\n', answer: text('application/jsonl') },
  {
    request: 'GET /lines',
    headers: { accept: 'application/x-ndjson' },
    body: '{"id":9007199254740993}\n{"id":2}\n',
    answer: text('application/x-ndjson'),
  },
  { request: 'GET /media/json', body: '{"id":9007199254740993}', answer: { vary: 'Accept' } },
  { request: 'GET /media/accepted', body: 'application/json true' },
  { request: 'GET /media/accepted', headers: { accept: 'text/*' }, body: 'text/plain true' },
  { request: 'GET /media/audio', headers: { accept: 'audio/*' }, body: 'audio', answer: text('audio/ogg') },
  { request: 'GET /media/image', body: 'image', answer: text('image/png') },
  { request: 'GET /media/video', status: 206, body: 'video', answer: text('video/mp4') },
  ...[undefined, '', '*/*', 'application/*;q=0.5, text/*;q=0.2', 'a'.repeat(501)].map(
    (accept): Call => ({ ...list(accept), body: '[{"id":1}]', answer: { vary: 'Accept' } }),
  ),
  ...['text/csv', 'TEXT/*', 'application/json;q=0.8, text/csv;q=0.9', 'application/json;q=0, text/*'].map(
    (accept): Call => ({
      ...list(accept),
      body: 'id\n1\n',
      answer: { ...text('text/csv; charset=utf-8'), vary: 'Accept' },
    }),
  ),
  { ...list('application/vnd.plants+json;version=2'), body: '{"id":2}' },
  ...['text/html', 'application/json;q=0', 'application/vnd.plants+json;version=3', '*/*;q=0'].map(
    (accept): Call => ({
      ...list(accept),
      status: 406,
      body: /^"the available media types are /,
      answer: { vary: 'Accept' },
    }),
  ),
  { request: 'GET /plants?status=404', status: 404, body: '{"title":"none"}' },
  { request: 'GET /plants?status=400', status: 400, body: '"no"' },
  { request: 'POST /plants', headers: { accept: 'image/png' }, status: 400, body: 'no' },
  { request: 'POST /plants', headers: { accept: 'application/*' }, status: 400, body: '"application/json"' },
]
