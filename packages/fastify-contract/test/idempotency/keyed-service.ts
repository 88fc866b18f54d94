import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import type { Test } from 'tap'
import type { Verifier } from '../../src/auth/verifiers.ts'
import { ContractError } from '../../src/contract/errors.ts'
import type { Client } from '../../src/http/request-context.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const id = { type: 'integer', format: 'int64' }
const thing = { type: 'object', properties: { id, name: { type: 'string' } }, required: ['id'] }
const error = { type: 'object', properties: { error: { type: 'integer' }, message: { type: 'string' } } }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const parameter = (required: boolean) => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
  schema: { type: 'string' },
})
const headers = Object.fromEntries(
  ['Location', 'Set-Cookie', 'Vary'].map((name) => [name, { schema: { type: 'string' } }]),
)

/** A document with operations that declare the header, and one that does not. */
const document = {
  openapi: '3.1.0',
  info: { title: 'Keys', version: '1' },
  security: [{ token: [] }],
  paths: {
    '/things': {
      post: {
        operationId: 'create',
        parameters: [parameter(true), { name: 'q', in: 'query', schema: { type: 'string' } }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: thing }, 'application/vnd.thing+json': { schema: thing } },
        },
        responses: { 201: { headers, ...json(thing) }, 404: json(error), 500: json(error), default: json(error) },
      },
      get: { operationId: 'list', parameters: [parameter(false)], responses: { 200: json(thing) } },
      put: { operationId: 'replace', requestBody: json(thing), responses: { 201: { headers, ...json(thing) } } },
    },
    '/other': {
      post: {
        operationId: 'other',
        parameters: [parameter(false)],
        responses: { 204: {}, default: json(error) },
      },
    },
    '/files/{name}': {
      post: {
        operationId: 'upload',
        parameters: [parameter(true), { name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/octet-stream': {},
            'multipart/form-data': { schema: { type: 'object', properties: { a: { type: 'string' } } } },
          },
        },
        responses: { 200: { content: { 'application/octet-stream': {} } }, default: json(error) },
      },
    },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

/** The client is the text of the Authorization header. */
const token: Verifier = (request, done) => {
  const name = request.headers.authorization
  if (name === undefined) done(new ContractError('missingToken', 'no token'))
  else done(undefined, { name, scopes: [] } as Client)
}

const unused: AnyHandler = async () => {
  throw new Error('this handler is not called')
}

type Handlers = Record<string, (input: never, request: never) => Promise<unknown>>

/** Serves the document; handlers that are not given throw. */
export async function serveKeyed(t: Test, handlers: Handlers, options: Served = {}): Promise<FastifyInstance> {
  const names = ['create', 'list', 'replace', 'other', 'upload']
  const app = await serveDocument(document, {
    ...options,
    handlers: {
      ...Object.fromEntries(names.map((name) => [name, unused])),
      ...(handlers as Record<string, AnyHandler>),
    },
    verifiers: { token },
  })
  t.teardown(() => app.close())
  return app
}

type Sent = {
  path?: string
  method?: 'POST' | 'PUT' | 'GET'
  key?: string | undefined
  client?: string
  body?: string
  contentType?: string
  headers?: Record<string, string>
}

/** Sends a request with a key; by default one that creates a thing. */
export async function send(app: FastifyInstance, given: Sent = {}) {
  const {
    path = '/things',
    method = 'POST',
    client = 'ann',
    body = '{"id":1}',
    contentType = 'application/json',
  } = given
  const key = 'key' in given ? given.key : 'k1'
  const response = await app.inject({
    url: path,
    method,
    payload: body,
    headers: {
      authorization: client,
      'content-type': contentType,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...given.headers,
    },
  })
  return { ...response, status: response.statusCode, isReplay: response.headers['idempotent-replayed'] === 'true' }
}

/** Listens on a free port and returns it. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Returns a function that creates the response of `create`, and the number of its calls. */
export function counting() {
  const counter = {
    calls: 0,
    async create({ body }: { body: { id: bigint | number; name?: string } }) {
      counter.calls++
      return { status: 201, headers: { Location: `/things/${counter.calls}` }, body }
    },
  }
  return counter
}

/** Returns a promise with its resolve function. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
