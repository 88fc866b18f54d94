import type { CallTable, Int64Responses, ResponseSchemaNode } from 'fastify-contract/client'
import { kindOf } from 'fastify-contract/contract'
import { callStyles } from '../document/call-styles.ts'
import { hasKeyHeader } from '../document/idempotency-keys.ts'
import { type Document, endpoints, type MediaTypes } from '../document/openapi-document.ts'
import {
  int64Holders,
  isBigint,
  membersOf,
  run,
  type Steps,
  schemaKeys,
  schemasDescribing,
  unnamedSchemas,
} from '../document/schemas.ts'

/** Returns what the client needs to know of a document, without what is empty. */
export function clientTable(document: Document, responses: Int64Responses): CallTable {
  const parameters = callStyles(document)
  const keyed = keyedCalls(document)
  return {
    ...(responses.nodes.length > 0 && responses),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(keyed.length > 0 && { keyed }),
  }
}

/** Returns the operations for which the client makes an idempotency key, each as its method and path. */
const keyedCalls = (document: Document): string[] =>
  endpoints(document)
    .filter(hasKeyHeader)
    .map(({ method, path }) => `${method} ${path}`)

/**
 * Returns the nodes of int64 values in the JSON responses of a document.
 */
export function int64Responses(document: Document): Int64Responses {
  const table: Int64Responses = { nodes: [], responses: {} }
  const indexes = new Map<string, number>()
  const keyOf = schemaKeys()
  const holdsInt64 = int64Holders(document)
  for (const { method, path, responses } of endpoints(document)) {
    const operation = `${method} ${path}`
    const roots = new Map<string, number | null>()
    for (const [status, { content = {} }] of Object.entries(responses))
      roots.set(status, run(nodeOf(jsonSchemas(content))))
    if ([...roots.values()].some(isIndex)) table.responses[operation] = Object.fromEntries(roots)
  }
  return table

  /** Returns the index of the node that these schemas describe together, or null if it holds no int64. */
  function* nodeOf(holders: unknown[]): Steps<number | null> {
    const schemas = schemasDescribing(document, holders)
    if (!schemas.some(holdsInt64)) return null
    // A schema may contain itself, so the same schemas share one node.
    const key = keyOf(schemas)
    const known = indexes.get(key)
    if (known !== undefined) return known
    const node: ResponseSchemaNode = {}
    const index = table.nodes.push(node) - 1
    indexes.set(key, index)
    if (schemas.some(isBigint)) node.int64 = true
    const members = new Map<string, number | null>()
    for (const [member, below] of membersOf(schemas)) members.set(member, yield nodeOf(below))
    const others = yield nodeOf(schemas.flatMap((schema) => unnamedSchemas(schema)))
    // A member without int64 is listed only if unnamed members hold one: the client would treat it as one of them.
    if (others === null) for (const [member, below] of members) if (below === null) members.delete(member)
    if (members.size > 0) node.members = Object.fromEntries(members)
    if (others !== null) node.others = others
    return index
  }
}

const isIndex = (root: number | null): boolean => root !== null

function jsonSchemas(content: MediaTypes): unknown[] {
  const found: unknown[] = []
  for (const [type, { schema }] of Object.entries(content)) if (kindOf(type) === 'json') found.push(schema)
  return found
}
