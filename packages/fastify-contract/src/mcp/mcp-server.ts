import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { type CallParameters, type CallStyles, pairWriter, requestTarget } from '../client/call-request.ts'
import type { ResponseSchemaNode } from '../client/exact-client.ts'
import { ContractError } from '../http/errors.ts'
import { contextOf, recordCall } from '../http/request-context.ts'
import { stringifyJson } from '../json/json-document.ts'

/** An operation with `x-mcp: true`, as a tool. */
export type OperationTool = Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> & {
  method: string
  /** The served path of the operation, as a template. */
  path: string
  /** The schema of the arguments: `path`, `query`, `header` and `body`. An int64 is a string of digits. */
  inputSchema: { type: string; [keyword: string]: unknown }
  /** The styles of parameters that differ from the default, by location and by name. */
  styles?: CallStyles[string]
  /** The index of the node of the arguments in `nodes`, if they hold an int64. */
  root?: number
}

/** The content of `generated/mcp.json`, which exists if an operation has `x-mcp: true`. */
export type McpTable = {
  info: { name: string; version: string }
  tools: OperationTool[]
  nodes: ResponseSchemaNode[]
}

export type McpOptions = {
  table: McpTable
  /** The path of the endpoint; default `/mcp`. */
  path?: string
  /** Origins whose pages may call the tools; default: none. Requests without an Origin are not from a page. */
  origins?: string[]
  /** The request headers with credentials that a call forwards, in lower case; default: `authorization`. */
  credentials?: string[]
  /** The maximum number of bytes of a message; default: the body limit of the server. */
  maxMessage?: number
}

/**
 * Registers an endpoint of the Model Context Protocol (revision 2025-11-25, streamable HTTP) on a server, whose tools
 * are operations. A call goes through the server like a request with the credentials of the caller, so authentication,
 * limits and validation apply. There are no sessions and no streams: each message is answered with JSON.
 */
export async function mcpServer(app: FastifyInstance, options: McpOptions): Promise<void> {
  const { table, path = '/mcp', origins = [], credentials = ['authorization'] } = options
  const { maxMessage = app.initialConfig.bodyLimit as number } = options
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxMessage }, (_request, body, done) =>
    done(null, body),
  )
  app.addHook('onRequest', async ({ headers: { origin } }) => {
    // A page can reach a server of its visitor's network by DNS rebinding, but it cannot forge its origin.
    if (origin !== undefined && !origins.includes(origin)) {
      throw new ContractError('insufficientScope', 'this origin may not call tools')
    }
  })
  app.route({
    method: ['GET', 'DELETE'],
    url: path,
    handler: async () => {
      throw new ContractError('noSuchMethod', 'there are no sessions and no streams; use POST', { allow: 'POST' })
    },
  })
  app.post(path, async (request, reply) => {
    // A batch would multiply the calls of one request; the protocol has had none since revision 2025-06-18.
    if (String(request.body).trimStart().startsWith('[')) {
      throw new ContractError('malformedRequest', 'batches are not supported; send one message in each request')
    }
    const call = toolCaller(app, table, request, credentials)
    const response = await answer(table, request, call.run)
    const { challenge } = call
    if (challenge !== undefined) throw challenge
    reply.code(response.status).headers(Object.fromEntries(response.headers))
    return reply.send(await response.text())
  })
}

type Run = (name: string, args: Record<string, unknown>) => Promise<CallToolResult>

/** Handles one message by a server and a transport of its own, which keep no state. */
async function answer({ info, tools }: McpTable, request: FastifyRequest, run: Run): Promise<Response> {
  const server = new Server(info, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toolOf) as Tool[] }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => run(params.name, params.arguments ?? {}))
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const body = request.body as Buffer
    return await transport.handleRequest(new Request('http://localhost/', { method: 'POST', headers, body }))
  } finally {
    await server.close()
  }
}

const toolOf = ({ name, title, description, annotations, inputSchema }: OperationTool) => ({
  name,
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(annotations !== undefined && { annotations }),
  inputSchema,
})

/** Returns a function that runs a tool, and the 401 error of a call, which the caller needs as an HTTP response. */
function toolCaller(app: FastifyInstance, { tools, nodes }: McpTable, request: FastifyRequest, credentials: string[]) {
  const caller: { run: Run; challenge?: ContractError } = {
    async run(name, args) {
      const tool = tools.find((each) => each.name === name)
      if (tool === undefined) return failed(`there is no tool ${name}`)
      let call: InjectOptions
      try {
        call = callOf(tool, nodes, args)
      } catch (error) {
        return failed((error as Error).message)
      }
      const taken = credentials.map((header) => [header, request.headers[header]]).filter(([, value]) => value)
      const { statusCode, payload, headers, raw } = await app.inject({
        ...call,
        remoteAddress: request.ip,
        headers: { ...call.headers, ...Object.fromEntries(taken), 'x-request-id': contextOf(request.raw).id },
      })
      recordCall(contextOf(request.raw), contextOf(raw.req))
      // MCP clients begin to authorize after a 401 of the endpoint itself.
      if (statusCode === 401) {
        const challenge = { 'www-authenticate': String(headers['www-authenticate']) }
        caller.challenge = new ContractError('invalidToken', 'the tool needs credentials', challenge)
      }
      const text = statusCode < 400 && payload !== '' ? payload : `HTTP ${statusCode} ${payload}`.trim()
      return { content: [{ type: 'text', text }], isError: statusCode >= 400 }
    },
  }
  return caller
}

const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** Returns the request of a call. Throws an error for arguments that cannot be sent. */
function callOf(tool: OperationTool, nodes: ResponseSchemaNode[], given: Record<string, unknown>): InjectOptions {
  const { name, method, path, styles = {}, root } = tool
  const args = (root === undefined ? given : withBigints(given, nodes[root], nodes, '')) as CallParameters & {
    body?: unknown
  }
  const pairs = pairWriter(name, args, { [name]: styles })
  const headers = Object.fromEntries(pairs('header'))
  const call = { method: method as NonNullable<InjectOptions['method']>, url: requestTarget(path, pairs) }
  if (args.body === undefined) return { ...call, headers }
  return {
    ...call,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: stringifyJson(args.body) as string,
  }
}

/** Converts the strings of digits at the places of int64 values. Throws an error for a number there. */
function withBigints(
  value: unknown,
  node: ResponseSchemaNode | undefined,
  nodes: ResponseSchemaNode[],
  place: string,
): unknown {
  if (node === undefined) return value
  if (node.int64 && typeof value === 'number') {
    throw new TypeError(`${place}: must be a string of digits, since JSON numbers beyond 2^53 are rounded`)
  }
  if (node.int64 && typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
  if (typeof value !== 'object' || value === null) return value
  const { members = {}, others } = node
  const below = (key: string, inner: unknown) => {
    const index = (Object.hasOwn(members, key) ? members[key] : others) ?? -1
    return withBigints(inner, nodes[index], nodes, place === '' ? key : `${place}/${key}`)
  }
  if (Array.isArray(value)) return value.map((item, index) => below(String(index), item))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, below(key, inner)]))
}
