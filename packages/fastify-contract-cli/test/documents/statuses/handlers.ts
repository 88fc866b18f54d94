import type { ErrorBody } from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async ranges({ path: { status } }) {
    if (status === 200) return { status, body: 'ok' }
    if (status === 201) return { status, body: 1 }
    if (status === 404) return { status, body: undefined }
    if (status === 410) return { status, body: { title: 'gone' } }
    throw new Error('what default describes is thrown')
  },
  onlyDefault: async ({ path: { status } }) => ({ status, body: { title: `${status}` } }),
}

/** Returns each error of the service as a problem. */
export const errorBody: ErrorBody<operations> = ({ error, message }) => ({
  contentType: 'application/problem+json',
  body: { title: message, error },
})

export const calls: Call[] = [
  { request: 'GET /ranges/200', body: '"ok"' },
  { request: 'GET /ranges/201', status: 201, body: '1' },
  { request: 'GET /ranges/404', status: 404, body: '' },
  {
    request: 'GET /ranges/410',
    status: 410,
    body: '{"title":"gone"}',
    answer: { 'content-type': 'application/problem+json; charset=utf-8' },
  },
  { request: 'GET /ranges/199', status: 400, error: 40003 },
  { request: 'GET /default/200', body: '{"title":"200"}' },
  { request: 'GET /default/503', status: 503, body: '{"title":"503"}' },
  { request: 'GET /default/x', status: 400, error: 40003 },
]
