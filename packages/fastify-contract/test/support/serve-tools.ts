import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import type { Test } from 'tap'
import { listVerifier } from '../../src/auth/tokens.ts'
import { bearer } from '../../src/auth/verifiers.ts'
import { type McpOptions, type McpTable, mcpServer } from '../../src/mcp/mcp-server.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { testLimits } from './serve-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const text = { type: 'string' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const described = (schema: object) => ({ description: 'A response.', ...json(schema) })
const shared = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const failed = described({ type: 'object', properties: { message: text } })
const id = { name: 'id', in: 'path', required: true, schema: int64 }

/** A document whose tools have results of each kind. */
export const toolsDocument = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  servers: [{ url: 'https://trees.example' }],
  security: [{ login: ['trees:read'] }],
  paths: {
    '/trees/{id}': {
      parameters: [id],
      get: {
        operationId: 'getTree',
        summary: 'Find a tree',
        description: 'Returns a tree.',
        'x-mcp': {
          name: 'find_tree',
          description: 'Finds a tree by its number.',
          annotations: { openWorldHint: false },
        },
        responses: { 200: described(shared('Tree')), 404: failed, default: failed },
      },
      put: {
        operationId: 'putTree',
        'x-mcp': true,
        security: [{ login: ['trees:read', 'trees:write'] }],
        requestBody: { required: true, ...json(shared('Tree')) },
        responses: { 200: described(shared('Tree')), 201: described(shared('Leaf')), default: failed },
      },
      delete: { operationId: 'fellTree', 'x-mcp': true, responses: { 204: { description: 'Gone.' }, default: failed } },
    },
    '/trees': {
      get: {
        operationId: 'listTrees',
        'x-mcp': true,
        security: [],
        responses: { 200: described({ type: 'array', items: shared('Tree') }), default: failed },
      },
    },
    '/measure': {
      get: {
        operationId: 'measure',
        'x-mcp': true,
        security: [],
        responses: { 200: described({ oneOf: [int64, text] }), default: failed },
      },
    },
    '/notes': {
      get: {
        operationId: 'notes',
        'x-mcp': true,
        security: [],
        responses: { 200: { description: 'Notes.', content: { 'text/plain': {} } }, default: failed },
      },
    },
    '/wait': {
      get: {
        operationId: 'wait',
        'x-mcp': true,
        security: [],
        responses: { 200: { description: 'Over.', content: { 'text/plain': {} } }, default: failed },
      },
    },
  },
  components: {
    schemas: {
      Leaf: { type: 'object', required: ['leaf'], properties: { leaf: int64 } },
      Tree: {
        type: 'object',
        required: ['id', 'branches'],
        properties: {
          id: int64,
          age: { type: 'integer' },
          height: { type: 'number' },
          girth: { anyOf: [int64, { type: 'number' }] },
          rank: { allOf: [int64, { type: 'integer' }, { enum: [1, 2] }] },
          secret: { ...text, writeOnly: true },
          planted: { ...text, format: 'date', readOnly: true },
          'x-any': { oneOf: [int64, text], 'x-mcp-header': 'Any' },
          branches: { type: 'array', items: shared('Tree') },
        },
      },
    },
    securitySchemes: {
      login: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example/.well-known/openid-configuration' },
    },
  },
} as unknown as Document

/** An integer that no double holds. */
export const largeId = '9007199254740993'

export const tree = {
  id: BigInt(largeId),
  age: 300,
  height: 1.5,
  girth: 1e300,
  planted: '2026-01-31',
  'x-any': -9223372036854775808n,
  branches: [{ id: 1n, 'x-any': '7', branches: [] }],
}

/** The tokens of a client with all scopes, and of one that may only read. */
export const token = 'a-token-of-the-tests-0123456789-abcdef'
export const readingToken = 'another-token-of-the-tests-0123456789-abcdef'

const reading = listVerifier([readingToken], ['trees:read'])
const all = listVerifier([token], ['trees:read', 'trees:write'])

/** What the handlers of the tools saw. */
export type SeenByTools = { calls: object[]; waiting: IncomingMessage[] }

/** Returns the options of a document with tools, the table of the tools, and what the handlers saw. */
export async function toolsApi(document = toolsDocument) {
  const { files, routes } = await compileDocument(document, 'trees.yaml')
  const table: McpTable = JSON.parse(files['mcp.json'] as string)
  const seen: SeenByTools = { calls: [], waiting: [] }
  const handlers = {
    async getTree({ path }: { path: { id: bigint } }) {
      seen.calls.push(path)
      if (path.id === 0n) return { status: 404, body: { message: 'there is no such tree' } }
      return { status: 200, body: { ...tree, id: path.id } }
    },
    async putTree({ body }: { body: { id: bigint } }) {
      return body.id === 0n ? { status: 201, body: { leaf: tree.id } } : { status: 200, body }
    },
    fellTree: async () => ({ status: 204, body: undefined }),
    listTrees: async () => ({ status: 200, body: [tree] }),
    measure: async () => ({ status: 200, body: tree.id }),
    notes: async () => ({ status: 200, body: 'none' }),
    async wait(_input: object, { raw }: { raw: IncomingMessage }) {
      seen.waiting.push(raw)
      await once(raw, 'close')
      return { status: 200, body: 'over' }
    },
  }
  const served = new Set(routes.operations.map(({ operationId }) => operationId))
  const api = {
    contract: { routes },
    handlers: Object.fromEntries(Object.entries(handlers).filter(([id]) => served.has(id))) as never,
    verifiers: { login: bearer((given, context) => all(given, context) ?? reading(given, context)) } as never,
    errorBody: (({ message }: Error) => ({ contentType: 'application/json', body: { message } })) as never,
  }
  return { api, table, seen }
}

/** Serves a document with its tools; returns the URL of the endpoint and what the handlers saw. */
export async function serveTools(t: Test, options: Partial<McpOptions> = {}, document = toolsDocument) {
  const { api, table, seen } = await toolsApi(document)
  const app = createServer<never>({ ...api, limits: testLimits })
  app.register(mcpServer, { table, ...options })
  t.teardown(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}${options.path ?? '/mcp'}`
  return { app, url, table, seen }
}
