import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

const done = async () => ({ status: 204, body: undefined }) as const

export const handlers: Handlers = { getA: done, putA: done, getB: done }

export const calls: Call[] = [
  { request: 'GET /v1/a', status: 204 },
  { request: 'GET /test/v1/a', status: 204 },
  { request: 'GET /next/v1/a', status: 204 },
  { request: 'PUT /a', status: 204 },
  { request: 'GET /other/path:1/b/7', status: 204 },
  { request: 'GET /other/path:1/b/x', status: 400, error: 40003 },
  { request: 'GET /a', status: 405, error: 40500, answer: { allow: 'PUT' } },
  { request: 'PUT /v1/a', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
  { request: 'GET /v2/a', status: 404, error: 40400 },
  { request: 'GET /b/7', status: 404, error: 40400 },
]
