import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type RpcMessage } from './json-rpc.ts'
import type { GivenArguments } from './tool-call.ts'
import type { McpTable, OperationTool } from './tool-table.ts'

/** The result of a tool: a text, and the JSON text of its structured content if the tool has an `outputSchema`. */
export type ToolResult = { text: string; isError: boolean; structured?: string }

/** Calls a tool; returns undefined if there is none of this name. */
export type CallTool = (name: string, given: GivenArguments) => Promise<ToolResult> | undefined

/** The response to a message. */
export type Answer = { status: number; text: string }

type Sdk = typeof import('@modelcontextprotocol/server')

/** Loads the SDK, an optional peer dependency: only services with tools install it. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@modelcontextprotocol/server')
  } catch (cause) {
    const remedy = 'run npm install @modelcontextprotocol/server'
    throw new Error(`mcpServer: the package @modelcontextprotocol/server cannot be loaded; ${remedy}`, { cause })
  }
}

/** The request headers that the protocol defines, and those that the SDK checks. */
export const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'accept', 'content-type']

/** Only a deployment changes the tools, and a list names nothing that needs credentials. */
const cacheHint = { ttlMs: 300_000, cacheScope: 'public' } as const

/**
 * Returns a function that answers messages by the SDK, in the revisions before 2026-07-28 and in that one. Each message
 * has a server of its own, so there are no sessions, and each answer is one JSON text.
 *
 * The SDK would round numbers and write them as doubles. So it gets a message without the arguments of its call, and its
 * answer gets the structured content as a text.
 */
export function protocol(sdk: Sdk, { info, tools }: McpTable) {
  const options = {
    capabilities: { tools: {} },
    cacheHints: { 'tools/list': cacheHint, 'server/discover': cacheHint },
  }
  type ListResult = { tools: (ReturnType<typeof listedTool> & { inputSchema: { type: 'object' } })[] }
  const list = { tools: tools.map(listedTool) } as ListResult
  const wrapped = new Set(tools.filter(isWrapped).map(({ name }) => name))
  // Without them, the SDK would validate and write all tools for each list, a millisecond for each 180 KB.
  const listTexts = new Map<boolean, string>()

  /** Keeps the tools of a list as the SDK writes them. A client that has gone may get another answer. */
  function keepList(text: string, isLegacy: boolean): void {
    const { result } = JSON.parse(text) as { result?: ListResult }
    if (result !== undefined) listTexts.set(isLegacy, JSON.stringify(result.tools))
  }

  return async function answer(
    { value, document }: RpcMessage,
    headers: IncomingHttpHeaders,
    callTool: CallTool,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { body, args } = withoutArguments(value)
    let given: GivenArguments | undefined = { args, document }
    const request = webRequest(headers, signal)
    const isLegacy = await sdk.isLegacyRequest(request, body)
    let structured: string | undefined
    let isNewList = false
    let listed: string | undefined
    const server = new sdk.Server(info, options)
    server.setRequestHandler('tools/list', function listTools() {
      listed = listTexts.get(isLegacy)
      isNewList = listed === undefined
      return isNewList ? list : { tools: [] }
    })
    server.setRequestHandler('tools/call', async function call({ params: { name } }) {
      const called = callTool(name, given as GivenArguments)
      // The message is freed while the operation runs.
      given = undefined
      const result = await called
      if (result === undefined) throw new sdk.ProtocolError(-32_602, `Unknown tool: ${name.slice(0, 128)}`)
      const { text, isError } = result
      structured = result.structured
      if (structured !== undefined && isLegacy && wrapped.has(name)) structured = `{"result":${structured}}`
      const content = [{ type: 'text' as const, text }]
      return { content, ...(structured !== undefined && { structuredContent: {} }), isError }
    })
    const response = await (isLegacy ? legacyResponse() : modernResponse())
    let text = await response.text()
    // No other part of the answer has these texts: a quote in a string has a backslash before it.
    if (structured !== undefined)
      text = text.replace('"structuredContent":{}', () => `"structuredContent":${structured}`)
    if (listed !== undefined) text = text.replace('"tools":[]', () => `"tools":${listed}`)
    if (isNewList && text !== '') keepList(text, isLegacy)
    return { status: response.status, text }

    async function legacyResponse(): Promise<Response> {
      const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      const response = await transport.handleRequest(request, { parsedBody: body })
      await server.close()
      return response
    }

    // Streams of change notifications would be open connections without an end, and the tools never change.
    function modernResponse(): Promise<Response> {
      const handler = sdk.createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 })
      return handler.fetch(request, { parsedBody: body })
    }
  }
}

const listedTool = ({ name, title, description, annotations, inputSchema, outputSchema }: OperationTool) => ({
  name,
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(annotations !== undefined && { annotations }),
  inputSchema,
  ...(outputSchema !== undefined && { outputSchema }),
})

/**
 * Returns whether the SDK lists an output schema for older revisions as that of an object with the member `result`. They
 * allow no other root than an object.
 */
const isWrapped = ({ outputSchema }: OperationTool): boolean =>
  outputSchema !== undefined && outputSchema.type !== 'object'

/** Returns a message without the arguments of its call, and the arguments. */
function withoutArguments(value: Record<string, unknown>) {
  const { params } = value
  if (!isObject(params) || !isObject(params.arguments)) return { body: value, args: {} }
  return { body: { ...value, params: { ...params, arguments: {} } }, args: params.arguments }
}

/** Returns the request that the SDK sees. Its URL is never used, and its body is passed beside it. */
function webRequest(given: IncomingHttpHeaders, signal: AbortSignal): Request {
  const headers = protocolHeaders.flatMap((name): [string, string][] =>
    given[name] === undefined ? [] : [[name, String(given[name])]],
  )
  return new Request('http://localhost/', { method: 'POST', headers, signal })
}
