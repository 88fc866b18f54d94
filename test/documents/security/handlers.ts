import type { FastifyRequest } from 'fastify'
import { ContractError } from '../../../src/http/errors.ts'
import type { Handlers } from '../../../src/openapi/handler-types.ts'
import type { Verifier, Verifiers } from '../../../src/openapi/security.ts'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'

const done = async () => ({ status: 204, body: undefined }) as const

export const handlers: Handlers<operations> = {
  global: done,
  open: done,
  optional: done,
  either: done,
  both: done,
  scopes: done,
}

const needs =
  (holds: (request: FastifyRequest) => boolean): Verifier =>
  (request, done) => {
    const refusal = new ContractError('invalidToken', 'not known', { 'www-authenticate': 'Bearer' })
    done(holds(request) ? undefined : refusal)
  }

export const verifiers: Verifiers = {
  token: needs(({ headers }) => headers.authorization === 'Bearer t'),
  password: needs(({ headers }) => headers.authorization === `Basic ${btoa('a:b')}`),
  headerKey: needs(({ headers }) => headers['x-key'] === 'k'),
  queryKey: needs(({ query }) => String((query as Record<string, string[]>).key) === 'k'),
  cookieKey: needs(({ headers }) => headers.cookie === 'key=k'),
  oauth: needs(({ headers }) => headers.authorization === 'Bearer o'),
  connect: needs(({ headers }) => headers.authorization === 'Bearer c'),
}

const bearer = { authorization: 'Bearer t' }
const basic = { authorization: 'Basic YTpi' }
const key = { 'x-key': 'k' }
const refused = { status: 401, error: 40101, answer: { 'www-authenticate': 'Bearer' } }

export const calls: Call[] = [
  { request: 'GET /global', headers: bearer, status: 204 },
  { request: 'GET /global', headers: basic, ...refused },
  { request: 'GET /global', ...refused },
  { request: 'GET /open', status: 204 },
  { request: 'GET /optional', status: 204 },
  { request: 'GET /optional', headers: bearer, status: 204 },
  { request: 'GET /either', headers: bearer, status: 204 },
  { request: 'GET /either', headers: basic, status: 204 },
  { request: 'GET /either?key=k', status: 204 },
  { request: 'GET /either', headers: { cookie: 'key=k' }, status: 204 },
  { request: 'GET /either?key=x', headers: { cookie: 'key=x', ...key }, ...refused },
  { request: 'POST /both', headers: { ...basic, ...key }, send: {}, status: 204 },
  { request: 'POST /both', headers: basic, send: {}, ...refused },
  { request: 'POST /both', headers: key, send: {}, ...refused },
  // Refused before its body is read.
  { request: 'POST /both', headers: { 'content-type': 'text/plain' }, send: 'x', ...refused },
  { request: 'POST /both', headers: { ...basic, ...key }, send: '[]', status: 400, error: 40003 },
  { request: 'GET /scopes', headers: { authorization: 'Bearer o', ...key }, status: 204 },
  { request: 'GET /scopes', headers: { authorization: 'Bearer c' }, status: 204 },
  { request: 'GET /scopes', headers: { authorization: 'Bearer o' }, ...refused },
]
