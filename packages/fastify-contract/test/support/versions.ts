import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import type { Test } from 'tap'
import { apiKey, bearer, type VerifierFactory } from '../../src/auth/verifiers.ts'
import type { Client } from '../../src/http/request-context.ts'
import type { AnyErrorBody } from '../../src/response/error-writer.ts'
import { type AnyMultiServerOptions, createMultiServer } from '../../src/routes/create-multi-server.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { compileRoutes, testLimits } from './serve-document.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object = {}) => ({ 200: { description: 'ok', ...json(schema) } })
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
const text = { type: 'string' }
const key = { name: 'Idempotency-Key', in: 'header', schema: text }
const chosen = (value: string) => ({ name: 'kind', in: 'query', required: true, schema: { const: value } })

/** The paths that both versions have. */
const paths = (pet: object) => ({
  '/pets': {
    post: {
      operationId: 'createPet',
      parameters: [key],
      requestBody: { required: true, ...json(pet) },
      responses: {
        201: {
          description: 'created',
          headers: { Location: { schema: text }, 'X-Made': { schema: text } },
          ...json(pet),
          links: { pet: { operationId: 'getPet', parameters: { id: '$response.body#/id' } } },
        },
      },
    },
  },
  '/pets/{id}': {
    parameters: [id],
    get: { operationId: 'getPet', security: [], responses: ok(pet) },
  },
  '/slow': { get: { operationId: 'wait', security: [], responses: ok() } },
})

const schemes = { bearer: { type: 'http', scheme: 'bearer' }, key: { type: 'apiKey', in: 'query', name: 'key' } }
const pet = (properties: object) => ({
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, ...properties },
})

/** The first version: it has selectors, a QUERY, text beside a parameter, and a stream. */
export const firstVersion = {
  openapi: '3.2.0',
  info: { title: 'Pets', version: '1.4.0' },
  security: [{ bearer: [] }],
  paths: {
    ...paths({ $ref: '#/components/schemas/Pet' }),
    '/pets/{id}:feed': { parameters: [id], post: { operationId: 'feedPet', security: [], responses: ok() } },
    '/search': {
      query: { operationId: 'search', security: [], requestBody: { required: true, ...json({}) }, responses: ok() },
    },
    '/calls': { get: { operationId: 'callOne', security: [], parameters: [chosen('one')], responses: ok() } },
    '/calls?kind=two': { get: { operationId: 'callTwo', security: [], parameters: [chosen('two')], responses: ok() } },
    '/events': {
      get: {
        operationId: 'watch',
        security: [],
        responses: { 200: { description: 'ok', content: { 'text/event-stream': { schema: {} } } } },
      },
    },
  },
  components: { schemas: { Pet: pet({ name: text }) }, securitySchemes: schemes },
} as unknown as Document

/** The second version: another schema of the same name, another scheme, and a method that the first one does not have. */
export const secondVersion = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '2.0.0' },
  servers: [{ url: 'https://pets.example/v2' }],
  security: [{ key: [] }],
  paths: {
    ...paths({ $ref: '#/components/schemas/Pet' }),
    '/pets/{id}': {
      parameters: [id],
      get: { operationId: 'getPet', security: [], responses: ok({ $ref: '#/components/schemas/Pet' }) },
      delete: {
        operationId: 'removePet',
        parameters: [{ name: 'X-Reason', in: 'header', schema: text }],
        responses: { 204: { description: 'gone' } },
      },
    },
    '/fails': { get: { operationId: 'fail', security: [], responses: ok() } },
  },
  components: { schemas: { Pet: pet({ names: { type: 'array', items: text } }) }, securitySchemes: schemes },
} as unknown as Document

/** The error body of the first version. */
export const firstErrors: AnyErrorBody = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})

/** The error body of the second version. */
export const secondErrors: AnyErrorBody = ({ statusCode, kind }, { operation }) => ({
  contentType: 'application/problem+json',
  body: { status: statusCode, type: kind, operation },
})

/** What the handlers observe and wait for. */
export type Seen = { created: string[]; waiting: (() => void)[] }

function handlersOf(document: Document, seen: Seen): Record<string, AnyHandler> {
  const { version } = document.info as { version: string }
  const all = {
    createPet: async ({ body }: { body: object }) => {
      seen.created.push(version)
      return { status: 201, body }
    },
    getPet: async ({ path }: { path: { id: bigint } }) => ({
      status: 200,
      body: { id: path.id, name: version, names: [version] },
    }),
    removePet: async () => ({ status: 204 }),
    wait: () => new Promise((resolve) => seen.waiting.push(() => resolve({ status: 200, body: version }))),
    feedPet: async ({ path }: { path: object }) => ({ status: 200, body: path }),
    search: async ({ body }: { body: unknown }) => ({ status: 200, body }),
    callOne: async ({ query }: { query: object }) => ({ status: 200, body: ['one', query] }),
    callTwo: async ({ query }: { query: object }) => ({ status: 200, body: ['two', query] }),
    async watch({ signal }: { signal: AbortSignal }) {
      async function* events() {
        yield { data: 1 }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
      return { status: 200, body: events() }
    },
    async fail() {
      throw new Error('failed')
    },
  }
  const ids = compileRoutes(document).operations.map(({ operationId }) => operationId)
  return Object.fromEntries(ids.map((each) => [each, all[each as keyof typeof all] as never]))
}

export const client: Client = { name: 'gardener', scopes: [] }
const verifiers: Record<string, VerifierFactory> = {
  bearer: bearer((token) => (token === 'good' ? client : undefined)),
  key: apiKey({ in: 'query', name: 'key' }, (given) => (given === 'good' ? client : undefined)),
}

type Given = Partial<Omit<AnyMultiServerOptions, 'contracts'>> & {
  contracts?: Record<string, Partial<AnyMultiServerOptions['contracts'][string]>>
  seen?: Seen
}

/** Returns the options of a document. */
export const apiOf = (document: Document, errorBody: AnyErrorBody, seen: Seen) => ({
  contract: { routes: compileRoutes(document) },
  handlers: handlersOf(document, seen),
  verifiers,
  errorBody,
})

/** Returns a server of both versions, below `/v1` and `/v2`. It does not listen yet. */
export function versionsServer(
  t: Test,
  { contracts = {}, seen = { created: [], waiting: [] }, ...others }: Given = {},
) {
  const app = createMultiServer<Record<string, never>>({
    errors: '/v1',
    ...others,
    limits: { ...testLimits, ...others.limits },
    contracts: {
      '/v1': { ...apiOf(firstVersion, firstErrors, seen), ...contracts['/v1'] },
      '/v2': { ...apiOf(secondVersion, secondErrors, seen), ...contracts['/v2'] },
    } as never,
  })
  t.teardown(() => app.close())
  return app
}

/** Lets a server listen; returns its port. */
export async function portOf(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0 })
  return (app.server.address() as AddressInfo).port
}
