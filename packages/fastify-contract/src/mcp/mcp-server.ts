import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ResponseSchemaNode } from '../client/exact-client.ts'
import type { CallStyles } from '../client/request-serialization.ts'
import { ContractError } from '../contract/errors.ts'
import { noteBodyLimit } from '../http/connection-state.ts'
import { wholeBodyReader } from '../http/read-body.ts'
import { contextOf, recordCall, withoutAddress } from '../http/request-context.ts'
import { type Guard, inOrder, sendContinue } from '../http/request-guards.ts'
import { networkOf, rateLimit } from '../limits/limits.ts'
import { bodyTypeFinder, checkContentType } from '../request/content-type.ts'
import { serverPartsOf } from '../routes/create-server.ts'
import { addressOf, tooMany } from '../routes/security.ts'
import {
  errorText,
  invalidParams,
  isObject,
  methodNotFound,
  parseMessage,
  type RpcMessage,
  type RpcRequest,
  resultText,
} from './json-rpc.ts'
import { type ToolRequest, toolRequests } from './tool-call.ts'

export { isToolHeader } from './tool-headers.ts'

/** An operation with `x-mcp: true`, as a tool. */
export type OperationTool = {
  name: string
  title?: string
  description?: string
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean }
  method: string
  /** The served path of the operation, as a template. */
  path: string
  /** The schema of the arguments: `path`, `query`, `header` and `body`. An int64 is a string of digits. */
  inputSchema: { type: string; [keyword: string]: unknown }
  /** The media type of the body, if it is not `application/json`. */
  contentType?: string
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
  /**
   * The messages of one address a minute that have no credentials or call no operation; default 300, and 0 means no
   * limit.
   */
  messages?: number
}

/** The revisions of the protocol whose messages this endpoint understands, the latest first. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

/**
 * Registers an endpoint of the Model Context Protocol (revision 2025-11-25, streamable HTTP) on a server of
 * `createServer`, whose tools are operations. A call goes through the server like a request with the credentials of the
 * caller, so authentication, limits and validation apply. There are no sessions and no streams: each message is answered
 * with JSON.
 */
export async function mcpServer(app: FastifyInstance, options: McpOptions): Promise<void> {
  const { table, path = '/mcp', origins = [], credentials = ['authorization'], messages = 300 } = options
  const parts = serverPartsOf(app)
  const { limits, memory } = parts
  const { maxMessage = limits.body } = options
  const respond = responder(app, table, credentials)
  const ofAddress = rateLimit(messages, networkOf)
  const hasCredentials = ({ headers }: FastifyRequest) => credentials.some((name) => headers[name] !== undefined)
  const find = bodyTypeFinder(['application/json'])
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    wholeBodyReader(parseMessage, { limit: maxMessage, headersLimit: limits.headers, memory }),
  )
  app.addHook('onRequest', inOrder([checkOrigin(origins)])) // 403
  app.route({
    method: ['GET', 'DELETE'],
    url: path,
    handler: async () => {
      throw new ContractError('noSuchMethod', 'there are no sessions and no streams; use POST', { allow: 'POST' })
    },
  })
  app.post(path, {
    onRequest: inOrder([
      // Valid credentials bypass this limit, so that neighbors behind one address cannot lock each other out.
      (request) => (hasCredentials(request) ? undefined : tooMany(ofAddress.take(addressOf(request)))), // 429
      checkAccept, // 406
      checkContentType({
        // 415
        mediaTypes: ['application/json'],
        isRequired: true,
        accepts: (given) => find(given) !== undefined,
      }),
      ({ raw }) => {
        noteBodyLimit(raw, maxMessage)
        return undefined
      },
      sendContinue,
    ]),
    handler: async (request, reply) => {
      const response = respond(request)
      if (!('call' in response) && hasCredentials(request)) {
        const rejection = tooMany(ofAddress.take(addressOf(request)))
        if (rejection !== undefined) throw rejection
      }
      const { status, text } = 'call' in response ? await response.call : response
      reply.code(status)
      return text === undefined ? reply.send() : reply.type('application/json').send(text)
    },
  })
}

/** A page can reach a server of its visitor's network by DNS rebinding, but it cannot forge its origin. */
function checkOrigin(origins: string[]): Guard {
  return function checkOwnOrigin({ headers: { origin } }) {
    if (origin === undefined || origins.includes(origin)) return undefined
    return new ContractError('insufficientScope', 'this origin may not call tools')
  }
}

/** Rejects a client that does not accept both media types, which the protocol demands. */
const checkAccept: Guard = ({ headers: { accept = '' } }) =>
  accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : new ContractError('notAcceptable', 'accept application/json and text/event-stream')

type Response = { status: number; text?: string }

/** A response, or the one of an operation that is called. */
type Answer = Response | { call: Promise<Response> }

/** Returns a tool's result, which is one text. */
const toolResult = (text: string, isError: boolean): string =>
  JSON.stringify({ content: [{ type: 'text', text }], isError })

/**
 * Returns a function that answers the message of a request. The list of the tools is serialized once. The message is
 * freed before an operation is called.
 */
function responder(app: FastifyInstance, { info, tools, nodes }: McpTable, credentials: string[]) {
  const parts = serverPartsOf(app)
  const listed = JSON.stringify({ tools: tools.map(toolOf) })
  const requestsOf = new Map(tools.map((tool) => [tool.name, toolRequests(tool, nodes, parts, credentials)]))

  const methods: Record<string, (message: RpcRequest, request: FastifyRequest) => Answer> = {
    initialize({ id, params: { protocolVersion: asked } }) {
      if (typeof asked !== 'string') return failed(id, invalidParams, 'protocolVersion must be a string')
      const protocolVersion = revisions.includes(asked) ? asked : revisions[0]
      return succeeded(id, JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: info }))
    },
    ping: ({ id }) => succeeded(id, '{}'),
    'tools/list': ({ id }) => succeeded(id, listed),
    'tools/call'({ id, params, document }, request) {
      const { name, arguments: args = {} } = params
      if (typeof name !== 'string') return failed(id, invalidParams, 'name must be a string')
      if (!isObject(args)) return failed(id, invalidParams, 'arguments must be an object')
      const requestOf = requestsOf.get(name)
      if (requestOf === undefined) return succeeded(id, toolResult(`there is no tool ${name.slice(0, 128)}`, true))
      let toolRequest: ToolRequest
      try {
        toolRequest = requestOf({ args, document })
      } catch (error) {
        return succeeded(id, toolResult((error as Error).message, true))
      }
      return { call: callOperation(app, toolRequest, request, credentials).then((result) => succeeded(id, result)) }
    },
  }

  return function answer(request: FastifyRequest): Answer {
    const message = request.body as RpcMessage
    request.body = undefined
    if ('isBatch' in message) {
      // A batch would multiply the calls of one request; the protocol has had none since revision 2025-06-18.
      throw new ContractError('malformedRequest', 'batches are not supported; send one message in each request')
    }
    if ('error' in message) return { status: 400, text: errorText(message.error) }
    const { 'mcp-protocol-version': revision } = request.headers
    const isInitial = 'request' in message && message.request.method === 'initialize'
    if (!isInitial && revision !== undefined && !revisions.includes(String(revision))) {
      const problem = `unsupported MCP-Protocol-Version; use one of ${revisions.join(', ')}`
      return { status: 400, text: errorText({ code: -32_000, message: problem }) }
    }
    if ('needsNoAnswer' in message) return { status: 202 }
    const { id, method } = message.request
    if (!Object.hasOwn(methods, method)) return failed(id, methodNotFound, 'Method not found')
    return (methods[method] as (typeof methods)[string])(message.request, request)
  }
}

const succeeded = (id: RpcRequest['id'], result: string): Response => ({ status: 200, text: resultText(id, result) })

const failed = (id: RpcRequest['id'], code: number, message: string): Response => ({
  status: 200,
  text: errorText({ code, message }, id),
})

const toolOf = ({ name, title, description, annotations, inputSchema }: OperationTool) => ({
  name,
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(annotations !== undefined && { annotations }),
  inputSchema,
})

/** Calls an operation. Resolves with the result of the tool; rejects with the 401 error of the operation. */
async function callOperation(
  app: FastifyInstance,
  call: ToolRequest,
  { headers: given, ip, raw }: FastifyRequest,
  credentials: string[],
): Promise<string> {
  const context = contextOf(raw)
  const taken = credentials.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))
  const response = await app.inject({
    ...call,
    remoteAddress: ip ?? withoutAddress,
    headers: { 'x-request-id': context.id, ...call.headers, ...Object.fromEntries(taken) },
  })
  const { statusCode, payload, headers } = response
  recordCall(context, contextOf(response.raw.req))
  // MCP clients begin to authorize after a 401 of the endpoint itself.
  if (statusCode === 401) {
    const challenge = { 'www-authenticate': String(headers['www-authenticate']) }
    throw new ContractError('invalidToken', 'the tool needs credentials', challenge)
  }
  const text = statusCode < 400 && payload !== '' ? payload : `HTTP ${statusCode} ${payload}`.trim()
  return toolResult(text, statusCode >= 400)
}
