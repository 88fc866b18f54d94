import { ContractError, type ErrorBody, type VerifierFactory } from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { operations } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async listPlants({ path, query, header, cookie }) {
    if (path['bed-id'] === 404n) return { status: 404, body: { title: 'no such bed' } }
    const id: bigint = path['bed-id']
    const parts = (query.tags ?? []).map((name) => ({ name }))
    const names = [header['X-Trace'], cookie.session, query['page-size']?.toFixed()]
    return { status: 200, body: [{ id, name: `N ${names.join(' ')}`, parts }] }
  },
  async 'add-plant'({ body }) {
    if (body.id === 9007199254740993n && body.parts?.[0]?.id !== 1n) throw new Error('the parts are exact, too')
    return { status: 204, body: undefined }
  },
  async plantOptions() {
    return { status: 204, body: undefined }
  },
  async checkPlants({ path }) {
    return { status: path['bed-id'] === 1n ? 204 : 404, body: undefined }
  },
}

const needs =
  (header: string, value: string): VerifierFactory =>
  () =>
  ({ headers }, done) =>
    done(headers[header] === value ? undefined : new ContractError('invalidToken', `needs ${header}`))

export const verifiers: Record<string, VerifierFactory> = {
  bearer: needs('authorization', 'Bearer a'),
  basic: needs('authorization', 'Basic YTpi'),
  key: needs('x-key', 'k'),
}

const plants = '/garden/v1/beds/1/plants'
const authorization = 'Bearer a'
const uuid = '7f6f0f7e-1d2b-4f0c-9d7e-0123456789ab'

/** Returns each error of the service as a problem. */
export const errorBody: ErrorBody<operations> = ({ error, message }) => ({
  contentType: 'application/problem+json',
  body: { title: message, error },
})

export const calls: Call[] = [
  {
    request: `GET ${plants}?page-size=5&tags=A,B%2Cc`,
    headers: { 'X-Trace': uuid, cookie: 'session=s' },
    body: `[{"id":1,"name":"N ${uuid} s 5","parts":[{"name":"A"},{"name":"B,c"}]}]`,
  },
  {
    request: 'GET /garden/v2/beds/9007199254740993/plants',
    body: '[{"id":9007199254740993,"name":"N   ","parts":[]}]',
    answer: { deprecation: '@1769817600' },
  },
  {
    request: 'GET /garden/v1/beds/404/plants',
    status: 404,
    body: '{"title":"no such bed"}',
    answer: { deprecation: '@1769817600' },
  },
  { request: 'GET /garden/v1/beds/x/plants', status: 400, error: 40003 },
  { request: `GET ${plants}?page-size=0`, status: 400, error: 40003 },
  { request: `GET ${plants}`, headers: { 'x-trace': 'x' }, status: 400, error: 40003 },
  { request: 'GET /beds/1/plants', status: 404, error: 40400 },
  { request: `PUT ${plants}`, status: 405, error: 40500, answer: { allow: 'GET, POST, OPTIONS, HEAD' } },
  { request: `POST ${plants}`, status: 401, error: 40101 },
  {
    request: `POST ${plants}`,
    headers: { authorization },
    send: '{"id":9007199254740993,"name":"A","planted":null,"parts":[{"id":1,"name":"B"}]}',
    status: 204,
    body: '',
  },
  { request: `POST ${plants}`, headers: { authorization }, send: { name: 'a' }, status: 400, error: 40003 },
  { request: `POST ${plants}`, headers: { authorization }, send: { name: 'A', planted: 'x' }, status: 400 },
  { request: `POST ${plants}`, headers: { authorization }, send: { name: 'A', parts: [{}] }, status: 400 },
  {
    request: `POST ${plants}`,
    headers: { authorization, 'content-type': 'application/vnd.garden.plant+json' },
    send: { name: 'A' },
    status: 400,
    error: 40003,
  },
  { request: `POST ${plants}`, headers: { authorization, 'content-type': 'text/plain' }, send: 'A', status: 415 },
  { request: `OPTIONS ${plants}`, status: 204, body: '' },
  { request: `HEAD ${plants}`, headers: { authorization }, status: 204, body: '' },
  { request: `HEAD ${plants}`, headers: { authorization: 'Basic YTpi', 'x-key': 'k' }, status: 204 },
  { request: `HEAD ${plants}`, headers: { authorization: 'Basic YTpi' }, status: 401 },
  { request: 'HEAD /garden/v1/beds/2/plants', headers: { authorization }, status: 404, body: '' },
]
