import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import type { Test } from 'tap'
import { httpDate } from '../../src/preconditions/http-dates.ts'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from './serve-document.ts'

const text = { schema: { type: 'string' } }
const json = { 'application/json': { schema: { type: 'string' } } }
const failure = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error', 'message'],
        properties: { error: { type: 'integer' }, message: { type: 'string' } },
      },
    },
  },
}
const cached = ['Cache-Control', 'Content-Location', 'ETag', 'Expires', 'Vary', 'Last-Modified', 'X-Kept', 'X-Left']
const headers = Object.fromEntries(cached.map((name) => [name, text]))
const read = (operationId: string, content: object, more: object = {}) => ({
  operationId,
  responses: { 200: { headers, content }, 304: { headers: { 'X-Kept': text } }, 412: failure, default: failure },
  ...more,
})
const write = (operationId: string, more: object = {}) => ({
  operationId,
  requestBody: { content: json },
  responses: {
    204: { headers: { ETag: text } },
    412: { ...failure, headers: { ETag: text } },
    default: failure,
    ...more,
  },
})

/** A document whose operations evaluate preconditions in each way, and two that do not. */
export const conditionalDocument = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: read('getNote', json),
      put: write('putNote', { 404: failure }),
      delete: { operationId: 'deleteNote', responses: { 204: {}, default: failure } },
    },
    '/strict': { put: write('putStrict', { 428: failure }) },
    '/stream': { get: read('getStream', { 'application/octet-stream': {} }) },
    '/digest': { get: read('getDigest', json, { 'x-etag': 'body' }) },
    '/listed': { get: { operationId: 'getListed', responses: { 200: { headers, content: json }, 304: {} } } },
    '/plain': { get: { operationId: 'getPlain', responses: { 200: { headers, content: json }, default: failure } } },
  },
} as unknown as Document

const changed = new Date(Date.UTC(2026, 0, 1))
export const date = httpDate(changed)
export const before = httpDate(new Date(changed.getTime() - 1_000))

/** What the handler of a write receives. */
export type Given = { preconditions: Preconditions; body: string }

/** Serves the document. The state of the note is its tag; a handler may be replaced. */
export async function serveConditional(t: Test, more: Record<string, unknown> = {}) {
  const note = { etag: '"v1"' as '"v1"' | undefined, writes: 0, closed: 0 }
  const own = {
    'Cache-Control': 'max-age=60',
    'Content-Location': '/note',
    Expires: date,
    Vary: 'Accept',
    'Last-Modified': date,
    'X-Kept': 'a',
    'X-Left': 'b',
  }
  const getNote = async () =>
    note.etag === undefined
      ? { status: 404, body: { error: 40400, message: 'no note' } }
      : { status: 200, headers: { ...own, ETag: note.etag }, body: 'text' }
  const putNote = async ({ preconditions }: Given) => {
    const current = note.etag === undefined ? undefined : { etag: note.etag, lastModified: changed }
    const checked = preconditions.check(current)
    note.writes++
    return { status: 204, checked, headers: { ETag: '"v2"' }, body: undefined }
  }
  async function* bytes() {
    try {
      yield Buffer.from('text')
    } finally {
      note.closed++
    }
  }
  const stream = async () => {
    const body = bytes()
    const close = body.return.bind(body)
    body.return = (value) => {
      note.closed++
      return close(value)
    }
    return { status: 200, headers: { ETag: note.etag }, body }
  }
  const app = await serveDocument(conditionalDocument, {
    handlers: {
      getNote,
      putNote,
      putStrict: putNote,
      deleteNote: async () => ({ status: 204, body: undefined }),
      getStream: stream,
      getDigest: async () => ({ status: 200, headers: { Vary: 'Accept' }, body: 'text' }),
      getListed: getNote,
      getPlain: getNote,
      ...more,
    } as unknown as Record<string, AnyHandler>,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { note, port }
}

type Seen = { status: number; headers: Record<string, string>; body: string }

/** Sends requests on one connection, one after the other, and returns their responses. The last one closes it. */
export async function sendRaw(t: Test, port: number, requests: [target: string, fields?: string[]][]): Promise<Seen[]> {
  const heads = requests.map(([target, fields = []], index) => {
    const closes = index === requests.length - 1 ? ['Connection: close'] : []
    return [`${target} HTTP/1.1`, 'Host: a', ...fields, ...closes, '', ''].join('\r\n')
  })
  const socket = await openSocket(t, port, Buffer.from(heads.join(''), 'latin1'))
  let left = await socket.closed()
  return requests.map(function nextResponse([target]) {
    const end = left.indexOf('\r\n\r\n')
    const [line = '', ...fields] = left.slice(0, end).split('\r\n')
    const found = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
    )
    const status = Number(line.split(' ')[1])
    const hasBody = !target.startsWith('HEAD') && status !== 304 && status !== 204
    const rest = left.slice(end + 4)
    const size = hasBody ? Number(found['content-length'] ?? rest.length) : 0
    left = rest.slice(size)
    return { status, headers: found, body: rest.slice(0, size) }
  })
}

/** Sends requests as `sendRaw` does, and returns the statuses of their responses. */
export const statuses = async (t: Test, port: number, requests: [string, string[]?][]) =>
  (await sendRaw(t, port, requests)).map(({ status }) => status)
