import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import type { Imported } from '../contract/generated-types.ts'
import { noteBodyLimit } from '../http/connection-state.ts'
import { wholeBodyReader } from '../http/read-body.ts'
import { contextOf, recordCall, withoutAddress } from '../http/request-context.ts'
import { type Guard, inOrder, sendContinue } from '../http/request-guards.ts'
import { networkOf, rateLimit } from '../limits/limits.ts'
import { bodyTypeFinder, checkContentType } from '../request/content-type.ts'
import { addressOf, tooMany } from '../routes/security.ts'
import { serverPartsOf } from '../routes/server-parts.ts'
import { parseMessage, type Received } from './json-rpc.ts'
import { checkOrigin, pagePermissions } from './page-origins.ts'
import { challengeWith, type ProtectedResource, protectedResource, type ResourceOptions } from './protected-resource.ts'
import { type CallTool, loadSdk, protocol, type ToolResult } from './protocol.ts'
import { type ToolRequest, toolRequests } from './tool-call.ts'
import { toolResult } from './tool-result.ts'
import type { McpTable, OperationTool } from './tool-table.ts'

export type { McpTable, OperationTool, ToolAuthorization, ToolHints } from './tool-table.ts'

export type McpOptions = ResourceOptions & {
  /** The content of `generated/mcp.json`. */
  table: Imported<McpTable>
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

/**
 * Registers an endpoint of the Model Context Protocol (revisions 2026-07-28 and those before it, streamable HTTP) on a
 * server of `createServer`, whose tools are operations. A call goes through the server like a request with the
 * credentials of the caller, so authentication, limits and validation apply. There are no sessions and no streams: each
 * message is answered with JSON. It also serves the metadata of the endpoint as a protected resource (RFC 9728). On a server
 * of `createMultiServer`, register it in the option `plugins` of a document: the endpoint is then below its prefix.
 */
export async function mcpServer(app: FastifyInstance, options: McpOptions): Promise<void> {
  const { path = '/mcp', origins = [], credentials = ['authorization'], messages = 300 } = options
  const table = options.table as McpTable
  const parts = serverPartsOf(app)
  const { limits, memory } = parts
  const { maxMessage = limits.body } = options
  const resource = protectedResource(table, { prefix: app.prefix, path }, options)
  const answer = protocol(await loadSdk(), table)
  const callerOf = operationCaller(app, table, credentials, resource)
  const ofAddress = rateLimit(messages, networkOf)
  const hasCredentials = ({ headers }: FastifyRequest) => credentials.some((name) => headers[name] !== undefined)
  const find = bodyTypeFinder(['application/json'])
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    wholeBodyReader(parseMessage, { limit: maxMessage, headersLimit: limits.headers, memory }),
  )
  const originGuard = checkOrigin(origins)
  // A page needs the metadata before it can call tools, and anyone may read it.
  for (const each of resource?.paths ?? [])
    parts.app.get(each, async (_, reply) => reply.header('access-control-allow-origin', '*').send(resource?.metadata))
  app.options(path, { onRequest: inOrder([originGuard]) }, async (_, reply) =>
    reply.code(204).headers(pagePermissions(credentials)).send(),
  )
  app.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH'],
    url: path,
    onRequest: inOrder([originGuard]),
    handler: async () => {
      throw new ContractError('noSuchMethod', 'there are no sessions and no streams; use POST', { allow: 'POST' })
    },
  })
  app.post(path, {
    onRequest: inOrder([
      originGuard, // 403
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
    handler: async function answerMessage(request, reply) {
      const received = request.body as Received
      request.body = undefined
      if ('isBatch' in received) {
        // A batch would multiply the calls of one request; the protocol has had none since revision 2025-06-18.
        throw new ContractError('malformedRequest', 'batches are not supported; send one message in each request')
      }
      const signal = signalOf(reply)
      const { call, outcome } = callerOf(request, signal)
      const { status, text } =
        'error' in received
          ? { status: 400, text: received.error }
          : await answer(received, request.headers, call, signal)
      const limited =
        !outcome.hasCalled && hasCredentials(request) ? tooMany(ofAddress.take(addressOf(request))) : undefined
      const rejection = outcome.rejection ?? limited
      if (rejection !== undefined) throw rejection
      reply.code(status)
      return text === '' ? reply.send() : reply.type('application/json').send(text)
    },
  })
}

/** Returns a signal that aborts when the client disconnects: a client of revision 2026-07-28 cancels a call like that. */
function signalOf({ raw }: FastifyReply): AbortSignal {
  const abort = new AbortController()
  raw.once('close', () => {
    // An abort costs more than this check, and most responses are complete.
    if (!raw.writableEnded) abort.abort()
  })
  return abort.signal
}

/** Rejects a client that does not accept both media types, which the protocol demands. */
const checkAccept: Guard = ({ headers: { accept = '' } }) =>
  accept.includes('application/json') && accept.includes('text/event-stream')
    ? undefined
    : new ContractError('notAcceptable', 'accept application/json and text/event-stream')

/** What a call of a message did: whether it reached an operation, and the error of the endpoint itself, if any. */
type Outcome = { hasCalled: boolean; rejection?: ContractError | undefined }

/** Returns a function that returns how the message of a request calls a tool. */
function operationCaller(
  app: FastifyInstance,
  { tools, nodes }: McpTable,
  credentials: string[],
  resource: ProtectedResource | undefined,
) {
  const parts = serverPartsOf(app)
  const { added } = parts
  const known = new Map(
    tools.map((tool) => [tool.name, { tool, requestOf: toolRequests(tool, nodes, parts, credentials) }]),
  )

  return function callerOf(request: FastifyRequest, signal: AbortSignal) {
    const outcome: Outcome = { hasCalled: false }
    return { call, outcome }

    function call(...[name, given]: Parameters<CallTool>): ReturnType<CallTool> {
      const found = known.get(name)
      if (found === undefined) return undefined
      let toolRequest: ToolRequest
      try {
        toolRequest = found.requestOf(given)
      } catch (error) {
        return Promise.resolve({ text: (error as Error).message, isError: true })
      }
      return callOperation(found.tool, toolRequest)
    }

    async function callOperation(tool: OperationTool, toolRequest: ToolRequest): Promise<ToolResult> {
      outcome.hasCalled = true
      const { headers: given, ip, raw } = request
      const context = contextOf(raw)
      const taken = credentials.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))
      const response = await app.inject({
        ...toolRequest,
        url: `${added}${toolRequest.url}`,
        signal,
        remoteAddress: ip ?? withoutAddress,
        headers: { 'x-request-id': context.id, ...toolRequest.headers, ...Object.fromEntries(taken) },
      })
      recordCall(context, contextOf(response.raw.req))
      outcome.rejection = rejectionOf(tool, response, resource)
      return toolResult(tool, nodes, response)
    }
  }
}

/**
 * Returns the 401 of an operation as one of the endpoint, and a 403 with a challenge: clients begin to authorize, or ask
 * for more scopes, after that.
 */
function rejectionOf(
  { scopes }: OperationTool,
  { statusCode, headers }: { statusCode: number; headers: Record<string, unknown> },
  resource: ProtectedResource | undefined,
): ContractError | undefined {
  const given = String(headers['www-authenticate'] ?? '')
  const isOauth = scopes !== undefined && resource !== undefined
  const challenge = { 'www-authenticate': isOauth ? challengeWith(resource, scopes, given) : given }
  if (statusCode === 401) return new ContractError('invalidToken', 'the tool needs credentials', challenge)
  if (statusCode === 403 && isOauth && given !== '')
    return new ContractError('insufficientScope', 'the tool needs more scopes', challenge)
  return undefined
}
