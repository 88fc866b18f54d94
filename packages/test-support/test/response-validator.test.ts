import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { type Assertions, type ReceivedResponse, responseOf, responseValidator } from '../src/response-validator.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const int64 = { type: 'integer', format: 'int64' }

const document = {
  openapi: '3.1.0',
  info: { title: 'Beds', version: '1.0.0' },
  servers: [{ url: 'https://garden.example/v1' }],
  paths: {
    '/beds/{bed-id}': {
      get: {
        responses: {
          200: { $ref: '#/components/responses/Bed' },
          '4XX': { description: 'refused', ...json({ type: 'object', required: ['reason'] }) },
          default: { description: 'failed', content: { 'application/problem+json': { schema: { type: 'object' } } } },
        },
      },
      delete: {
        responses: { 204: { description: 'gone', headers: { 'Bed-Count': { $ref: '#/components/headers/Count' } } } },
      },
    },
    '/beds/all': { delete: { responses: { 204: { description: 'gone' } } } },
  },
  components: {
    headers: { Count: { required: true, schema: { $ref: '#/components/schemas/Count' } } },
    responses: { Bed: { description: 'ok', ...json({ $ref: '#/components/schemas/Bed' }) } },
    schemas: {
      Bed: { type: 'object', required: ['id'], properties: { id: int64 } },
      Count: { type: 'integer', minimum: 0 },
    },
  },
} as unknown as Document
const { operationAt, assertResponse } = responseValidator(document)

/** Returns the message of each assertion that fails for a response. */
function faultsOf(method: string, path: string, answer: Partial<ReceivedResponse>): string[] {
  const found: string[] = []
  const fail = (isSo: boolean, what: string) => void (isSo || found.push(what))
  const assertions: Assertions = {
    ok: (value, message = '') => fail(Boolean(value), message.replace(/:.*/, '')),
    equal: (one, other, message = 'the media type') => fail(one === other, message),
    same() {},
    match() {},
    type() {},
  }
  const whole = { method, path, status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: '' }
  const operation = operationAt(method, path)
  const response = operation && responseOf(operation, answer.status ?? 200)
  if (response === undefined) throw new Error(`${method} ${path} lists no such response`)
  assertResponse(assertions, response, { ...whole, ...answer })
  return found
}

t.test("a request matches its operation's path, literal paths first", async (t) => {
  const pathOf = (method: string, target: string) => operationAt(method, target)?.path
  t.equal(pathOf('GET', '/v1/beds/7?x=/y#z'), '/beds/{bed-id}')
  t.equal(pathOf('HEAD', '/v1/beds/7'), '/beds/{bed-id}')
  t.equal(pathOf('DELETE', '/v1/beds/all'), '/beds/all')
  t.equal(pathOf('GET', '/v1/beds/all'), '/beds/{bed-id}')
  for (const target of ['/beds/7', '/v1/beds/', '/v1/beds/7/8', '/v1/beds/7/'])
    t.equal(pathOf('GET', target), undefined)
  t.equal(pathOf('PUT', '/v1/beds/7'), undefined)
})

function check(t: Test, method: string, answers: [answer: Partial<ReceivedResponse>, faults: string[]][]) {
  for (const [answer, faults] of answers) t.same(faultsOf(method, '/v1/beds/7', answer), faults, JSON.stringify(answer))
}

t.test('a body is checked by its status, its status range or default', async (t) => {
  const problem = { 'content-type': 'application/problem+json; charset=utf-8' }
  check(t, 'GET', [
    [{ body: '{"id":1}' }, []],
    [{ body: '{"id":"1"}' }, ['200 body has its schema']],
    [{ body: '{"id":1}', headers: problem }, ['the media type']],
    [{ status: 404, body: '{"reason":""}' }, []],
    [{ status: 404, body: '{}' }, ['404 body has its schema']],
    [{ status: 500, headers: problem, body: '{}' }, []],
    [{ status: 500, body: '{}' }, ['the media type']],
  ])
  check(t, 'HEAD', [[{ body: '' }, []]])
})

t.test('responses without content have no body, and required headers are present', async (t) => {
  const status = 204
  check(t, 'DELETE', [
    [{ status, headers: { 'bed-count': '7' } }, []],
    [{ status, headers: {} }, ['the missing header Bed-Count is optional']],
    [{ status, headers: { 'bed-count': 'many' } }, ['header Bed-Count has its schema']],
    [{ status, headers: { 'bed-count': '-1' } }, ['header Bed-Count has its schema']],
    [{ status, headers: { 'bed-count': '7' }, body: '{}' }, ['204 has no body']],
    [{ status, headers: { 'bed-count': '7', 'content-type': 'text/plain' } }, ['204 has no media type']],
  ])
})
