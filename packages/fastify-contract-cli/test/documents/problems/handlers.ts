import { STATUS_CODES } from 'node:http'
import { bearer, ContractError, type ErrorBody } from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async getPot({ path: { id } }) {
    if (id === 404) return { status: 404, body: { type: '/problems/no-such-pot', pot: id } }
    if (id === 500) throw new Error('secret')
    if (id === 503) throw Object.assign(new Error('full'), { retryAfter: 7 })
    if (id === 429) throw new ContractError('tooManyRequests', 'too many requests', { 'retry-after': '3' })
    return { status: 200, body: { size: id } }
  },
  async putPot({ body }) {
    return { status: 200, body }
  },
}

/** Returns problem details: about:blank has the title of its status (RFC 9457 section 4.2.1). */
export const errorBody: ErrorBody<operations> = ({ kind, statusCode, message }, { id, operation }) => ({
  contentType: 'application/problem+json',
  body: {
    type: operation === undefined ? 'about:blank' : `/problems/${operation}/${kind}`,
    title: STATUS_CODES[statusCode] ?? 'Error',
    status: statusCode,
    detail: message.slice(0, 500),
    instance: `urn:request:${id}`,
    ...(kind === 'tooManyRequests' && { traffic: 9007199254740993n }),
  },
})

export const without: ErrorBody<operations> = ({ statusCode }) => ({
  contentType: 'application/problem+json',
  // @ts-expect-error the title is missing
  body: { type: 'about:blank', status: statusCode, instance: 'urn:a' },
})

// @ts-expect-error no response declares this media type
export const undeclared: ErrorBody<operations> = ({ message }) => ({ contentType: 'text/plain', body: message })

export const verifiers = {
  bearer: bearer((token) =>
    token === 't' ? { name: 'a', scopes: ['pots'] } : token === 'u' ? { name: 'b', scopes: [] } : undefined,
  ),
}

const type = 'application/problem+json; charset=utf-8'
const problem = (status: number, title: string, answer: Call['answer'] = {}, more: object = {}) => ({
  status,
  body: { title, status, instance: /^urn:request:[\w.-]+$/, ...more },
  answer: { 'content-type': type, ...answer },
})
const put = (send: unknown, headers: Call['headers'] = {}) => ({
  request: 'PUT /pots/1',
  send,
  headers: { authorization: 'Bearer t', ...headers },
})
const ofPut = (kind: string, detail: RegExp | string) => ({ type: `/problems/putPot/${kind}`, detail })
const challenge = 'Bearer realm="plant-store"'

export const calls: Call[] = [
  { request: 'GET /pots/1', body: '{"size":1}' },
  { ...put({ size: 2 }), body: '{"size":2}' },
  { ...put({ size: 0 }), ...problem(400, 'Bad Request', {}, ofPut('invalid', 'body/size must be >= 1')) },
  { ...put('{'), ...problem(400, 'Bad Request', {}, ofPut('notJson', /JSON/)) },
  {
    ...put({}, { authorization: '' }),
    ...problem(401, 'Unauthorized', { 'www-authenticate': challenge }, ofPut('missingToken', /token/)),
  },
  {
    ...put({}, { authorization: 'Bearer x' }),
    ...problem(401, 'Unauthorized', { 'www-authenticate': `${challenge}, error="invalid_token"` }),
  },
  {
    ...put({}, { authorization: 'Bearer u' }),
    ...problem(403, 'Forbidden', { 'www-authenticate': `${challenge}, error="insufficient_scope", scope="pots"` }),
  },
  // The handler returns the 404 that the document declares for a missing pot.
  { request: 'GET /pots/404', status: 404, body: '{"type":"/problems/no-such-pot","pot":404}' },
  { request: 'GET /nothing', ...problem(404, 'Not Found', {}, { type: 'about:blank' }) },
  { request: 'GET /%', ...problem(400, 'Bad Request', {}, { type: 'about:blank' }) },
  { request: 'DELETE /pots/1', ...problem(405, 'Method Not Allowed', { allow: 'GET, HEAD, PUT' }) },
  { ...put(`{"size":1,"a":"${'a'.repeat(1_100_000)}"}`), ...problem(413, 'Payload Too Large') },
  {
    ...put('size=1', { 'content-type': 'text/plain' }),
    ...problem(415, 'Unsupported Media Type', { accept: 'application/json' }),
  },
  {
    request: 'GET /pots/429',
    ...problem(429, 'Too Many Requests', { 'retry-after': '3' }),
    body: /,"traffic":9007199254740993\}$/,
  },
]

/** Requests that fail and that the service also logs. */
export const failures: Call[] = [
  {
    request: 'GET /pots/500',
    ...problem(500, 'Internal Server Error', {}, { detail: 'internal error; its X-Request-Id is in the log' }),
  },
  { request: 'GET /pots/503', ...problem(503, 'Service Unavailable', { 'retry-after': '7' }) },
]
