import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import { type McpTable, mcpServer } from '../../src/mcp/mcp-server.ts'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { errorBody, testLimits } from '../support/serve-document.ts'

const text = { schema: { type: 'string' } }
const empty = { description: 'None.' }
const failed = { description: 'An error.', content: { 'application/json': { schema: { type: 'object' } } } }
const description = 'The version of the note in double quotes.'

const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      put: {
        operationId: 'putNote',
        'x-mcp': true,
        parameters: [{ name: 'If-Match', in: 'header', description, ...text }],
        responses: { 204: { ...empty, headers: { ETag: text } }, 412: failed, 428: failed },
      },
    },
  },
} as unknown as Document

t.test(
  'a tool without its precondition gets 428 that says what to send, and changes with the current tag',
  async (t) => {
    const { contract, files } = await compileDocument(document, 'notes.yaml')
    const table: McpTable = JSON.parse(files['mcp.json'] as string)
    const app = createServer({
      contract,
      handlers: {
        putNote: async ({ preconditions }: { preconditions: Preconditions<'etag'> }) => {
          const checked = preconditions.check({ etag: '"v1"' })
          return { status: 204, checked, headers: { ETag: '"v2"' }, body: undefined }
        },
      } as never,
      verifiers: {},
      errorBody,
      limits: testLimits,
    })
    app.register(mcpServer, { table })
    t.teardown(() => app.close())
    const call = async (args: object) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'putNote', arguments: args } }
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const response = await app.inject({ method: 'POST', url: '/mcp', headers, payload: JSON.stringify(message) })
      const { isError, content } = response.json().result
      return [isError ?? false, content[0].text]
    }
    t.match(await call({}), [true, /^HTTP 428 .*the request must have If-Match or If-None-Match/])
    t.match(await call({ header: { 'If-Match': 'v1' } }), [
      true,
      /^HTTP 400 .*If-Match must be \* or a list .* such as \\"v1\\"/,
    ])
    t.match(await call({ header: { 'If-Match': '"v0"' } }), [true, /^HTTP 412 /])
    t.same(await call({ header: { 'If-Match': '"v1"' } }), [false, 'HTTP 204'])
  },
)
