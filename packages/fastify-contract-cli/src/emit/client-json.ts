import type { CallTable, Int64Responses, ResponseSchemaNode } from 'fastify-contract/client'
import { kindOf } from 'fastify-contract/contract'
import { callStyles } from '../document/call-styles.ts'
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
  return {
    ...(responses.nodes.length > 0 && responses),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

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
    const roots = Object.entries(responses).map(
      ([status, { content = {} }]) => [status, run(nodeOf(jsonSchemas(content)))] as const,
    )
    if (roots.some(([, root]) => root !== null)) table.responses[operation] = Object.fromEntries(roots)
  }
  return table

  /** Returns the index of the node that these schemas describe together, or null if it holds no int64. */
  function* nodeOf(holders: unknown[]): Steps<number | null> {
    const schemas = schemasDescribing(document, holders)
    if (!schemas.some((schema) => holdsInt64(schema))) return null
    // A schema may contain itself, so the same schemas share one node.
    const key = keyOf(schemas)
    const known = indexes.get(key)
    if (known !== undefined) return known
    const node: ResponseSchemaNode = {}
    const index = table.nodes.push(node) - 1
    indexes.set(key, index)
    if (schemas.some(isBigint)) node.int64 = true
    const members: [string, number | null][] = []
    for (const [member, below] of membersOf(schemas)) {
      members.push([member, yield nodeOf(below)])
    }
    const others = yield nodeOf(schemas.flatMap((schema) => unnamedSchemas(schema)))
    // A member without int64 is listed only if unnamed members hold one: the client would treat it as one of them.
    const told = members.filter(([, below]) => below !== null || others !== null)
    if (told.length > 0) node.members = Object.fromEntries(told)
    if (others !== null) node.others = others
    return index
  }
}

const jsonSchemas = (content: MediaTypes): unknown[] =>
  Object.entries(content).flatMap(([type, { schema }]) => (kindOf(type) === 'json' ? [schema] : []))
