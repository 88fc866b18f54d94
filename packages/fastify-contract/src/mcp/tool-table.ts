import type { ResponseSchemaNode } from '../client/exact-client.ts'
import type { CallStyles } from '../client/request-serialization.ts'

/** What clients may assume of a tool (`ToolAnnotations` of the protocol). */
export type ToolHints = {
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** An operation with `x-mcp`, as a tool. */
export type OperationTool = {
  name: string
  /** The operationId, if it differs from the name. */
  operationId?: string
  title?: string
  description?: string
  annotations?: ToolHints
  method: string
  /** The served path of the operation, as a template. */
  path: string
  /** The schema of the arguments: `path`, `query`, `header` and `body`. An int64 is a string of digits. */
  inputSchema: { type: string; [keyword: string]: unknown }
  /** The schema of the body of all successful responses, if each of them has JSON. An int64 is a string of digits. */
  outputSchema?: Record<string, unknown>
  /** The scopes that the operation needs, if it accepts tokens of OAuth 2 or OpenID Connect. */
  scopes?: string[]
  /** The media type of the body, if it is not `application/json`. */
  contentType?: string
  /** The styles of parameters that differ from the default, by location and by name. */
  styles?: CallStyles[string]
  /** The index of the node of the arguments in `nodes`, if they hold an int64. */
  root?: number
  /** The index of the node of the response bodies in `nodes`, if they hold an int64. */
  outputRoot?: number
}

/** What the document says about the tokens of its tools. */
export type ToolAuthorization = {
  /** The origin of the first server, if its URL is absolute. */
  origin?: string
  /** The issuers of the tokens, as far as the document names them. */
  issuers: string[]
  scopes: string[]
}

/** The content of `generated/mcp.json`, which exists if an operation has `x-mcp`. */
export type McpTable = {
  info: { name: string; version: string }
  tools: OperationTool[]
  nodes: ResponseSchemaNode[]
  /** Present if a tool accepts tokens of OAuth 2 or OpenID Connect. */
  authorization?: ToolAuthorization
}
