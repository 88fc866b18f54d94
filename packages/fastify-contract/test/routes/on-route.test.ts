import fastifySwagger from '@fastify/swagger'
import type { RouteOptions } from 'fastify'
import { type Document, type Endpoint, endpoints } from 'fastify-contract-cli/testing'
import t from 'tap'
import type { VerifierFactory } from '../../src/auth/verifiers.ts'
import { createServer, type ServerOptions } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const json = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })

const garden = {
  openapi: '3.1.0',
  info: { title: 'Garden', version: '1.0.0' },
  paths: {
    '/beds/{bed}': {
      parameters: [{ name: 'bed', in: 'path', required: true, schema: int64 }],
      put: {
        operationId: 'putBed',
        security: [{ key: [], oauth: ['beds:write'] }],
        parameters: [
          { name: 'size', in: 'query', schema: { type: 'integer', format: 'int32' } },
          { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } },
        ],
        requestBody: { content: json('Bed') },
        responses: { 200: { description: 'ok', content: json('Bed') }, 204: { description: 'none' } },
      },
    },
  },
  components: {
    schemas: { Bed: { type: 'object', properties: { id: int64, beside: { $ref: '#/components/schemas/Bed' } } } },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      oauth: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: '/token', scopes: { 'beds:write': 'Write.' } } },
      },
    },
  },
} as unknown as Document

/** Returns a schema without its annotations. Keeps a property named like one, because its value is an object. */
const withoutWords = (schema: unknown = {}): unknown =>
  JSON.parse(JSON.stringify(schema, (key, value) => (isWords(key) && typeof value !== 'object' ? undefined : value)))
const isWords = (key: string) => ['title', 'description', 'example'].includes(key)

/** Returns the parts of each operation that must be equal in both documents. */
function summaryOf(document: Document) {
  const contentOf = (content: object = {}) =>
    Object.entries(content).map(([type, { schema }]) => [type, withoutWords(schema)])
  const operation = ({ operationId, method, path, security, parameters, requestBody, responses }: Endpoint) => ({
    operationId,
    method,
    path,
    security,
    parameters: parameters
      .map(({ name, in: place, required = false, schema }) => ({ name, place, required, schema: withoutWords(schema) }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
    body: contentOf(requestBody?.content),
    responses: Object.entries(responses).map(([status, { content, headers = {} }]) => [
      status,
      contentOf(content),
      Object.keys(headers),
    ]),
  })
  return endpoints(document).map(operation)
}

const verify: VerifierFactory = () => (_request, done) => done()
const handle = async () => ({ status: 204 as const, body: undefined })

type Handlers = Record<string, typeof handle>

/** Serves a contract with @fastify/swagger and returns the document that the plugin makes from the routes. */
async function documentSeen(
  { components }: Document,
  options: Pick<ServerOptions<Handlers>, 'contract' | 'handlers' | 'verifiers'>,
) {
  const { securitySchemes } = components as { securitySchemes: Record<string, never> }
  const seen: RouteOptions[] = []
  const app = createServer({
    ...options,
    errorBody,
    plugins(app) {
      app.addHook('onRoute', (route) => void seen.push(route))
      app.register(fastifySwagger, {
        openapi: { openapi: '3.1.0', components: { securitySchemes } },
        refResolver: { buildLocalReference: ({ $id }) => String($id) },
      })
    },
  })
  await app.ready()
  const swagger = app.swagger() as unknown as Document
  await app.close()
  return { seen, swagger }
}

t.test('@fastify/swagger reproduces the operations from the routes it sees', async (t) => {
  const routes = compileRoutes(garden)
  const { seen, swagger } = await documentSeen(garden, {
    contract: { routes },
    handlers: { putBed: handle },
    verifiers: { key: verify, oauth: verify },
  })
  t.same(summaryOf(swagger), summaryOf(garden), 'with parameters, scopes and responses without a body')
  for (const { operationId, schema } of routes.operations) {
    const { schema: shown = {} } = seen.find(({ schema }) => schema?.operationId === operationId) ?? {}
    t.same([shown.body, shown.response], [schema.body, schema.response], operationId)
  }
  const { schemas } = swagger.components as { schemas: Record<string, object> }
  t.same(Object.keys(schemas).sort(), Object.keys(routes.schemas).sort())
})
