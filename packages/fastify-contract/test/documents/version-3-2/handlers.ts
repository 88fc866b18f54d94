import { bearer, createVerifiers, type VerifierContext } from '../../../src/auth/verifiers.ts'
import type { Handlers } from '../../../src/serve/handler-types.ts'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'

export const handlers: Handlers<operations> = {
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
  async followBoxes() {
    return {
      status: 200,
      body: (async function* () {
        yield { event: 'box', id: '7', data: { size: 1 } }
      })(),
    }
  },
  async listShelves() {
    return { status: 204, body: undefined }
  },
  async addShape() {
    return { status: 204, body: undefined }
  },
}

export const verifiers = (context: VerifierContext) =>
  createVerifiers(
    {
      device: bearer((token) => ({ name: 'reader', scopes: [token] })),
    },
    context,
  )

const shape = (send: unknown, status: number): Call => ({ request: 'POST /shapes', send, status })

export const calls: Call[] = [
  { request: 'QUERY /boxes', send: { size: 3 }, status: 200, body: '[{"size":3}]' },
  { request: 'QUERY /boxes', send: { size: 'large' }, status: 400, error: 40003 },
  { request: 'QUERY /boxes', status: 415, error: 41500 },
  { request: 'COPY /boxes', headers: { destination: '/shelf' }, status: 201, body: '', answer: { location: '/shelf' } },
  { request: 'COPY /boxes', status: 400, error: 40003 },
  { request: 'COPY /lines', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
  { request: 'MOVE /boxes', status: 405, error: 40500, answer: { allow: 'QUERY, COPY' } },
  { request: 'GET /lines', status: 200, body: '{"size":1}\n{"size":2}\n' },
  { request: 'GET /events', status: 200, body: /^(:\n\n)?event: box\nid: 7\ndata: {"size":1}\n\n$/ },
  { request: 'GET /shelves', headers: { authorization: 'Bearer read' }, status: 204 },
  { request: 'GET /shelves', headers: { authorization: 'Bearer write' }, status: 403, error: 40300 },
  shape({ kind: 'Circle', radius: 1 }, 204),
  shape({ kind: 'Circle' }, 400),
  shape({ name: 'without a kind' }, 204),
  shape({ kind: 'Square', name: 'of no name' }, 204),
  shape({ kind: 1 }, 400),
]
