import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import type { Test } from 'tap'
import type { Verifier } from '../../src/auth/verifiers.ts'
import { ContractError } from '../../src/contract/errors.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { compileRoutes, errorBody, type Served, serveDocument } from '../support/serve-document.ts'

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
  security: [{ token: [] }, { key: [] }],
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
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'header', name: 'x-key' },
    },
  },
} as unknown as Document

/** Returns a verifier of the client that a header names, as `client` or `client/subject`. */
const namedBy =
  (header: string): Verifier =>
  (request, done) => {
    const [name, subject] = String(request.headers[header] ?? '').split('/')
    if (!name) done(new ContractError('missingToken', 'no token'))
    else done(undefined, { name, scopes: [], ...(subject !== undefined && { subject }) })
  }

const verifiers = { token: namedBy('authorization'), key: namedBy('x-key') }

const unused: AnyHandler = async () => {
  throw new Error('this handler is not called')
}

type Handlers = Record<string, (input: never, request: never) => Promise<unknown>>

/** Returns all handlers; those that are not given throw. */
const allHandlers = (given: Handlers): Record<string, AnyHandler> => ({
  ...Object.fromEntries(['create', 'list', 'replace', 'other', 'upload'].map((name) => [name, unused])),
  ...(given as Record<string, AnyHandler>),
})

/** Returns the options that serve the document as a plugin. */
export const keyedOptions = (handlers: Handlers) => ({
  contract: { routes: compileRoutes(document) } as never,
  handlers: allHandlers(handlers) as never,
  verifiers: { token: () => verifiers.token, key: () => verifiers.key } as never,
  errorBody: errorBody as never,
})

/** Serves the document; handlers that are not given throw. */
export async function serveKeyed(t: Test, handlers: Handlers, options: Served = {}): Promise<FastifyInstance> {
  const app = await serveDocument(document, { ...options, handlers: allHandlers(handlers), verifiers })
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

/** Returns the text of a request with a key. */
export const head = (path: string, body: string, key = 'k1') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\nIdempotency-Key: ${key}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Returns a handler that waits after its start, and then creates. */
export function waiting() {
  const counter = counting()
  const [started, waits] = [gate(), gate()]
  const create = async (input: never) => {
    started.open()
    await waits.opened
    return await counter.create(input)
  }
  return { counter, started, waits, create }
}
