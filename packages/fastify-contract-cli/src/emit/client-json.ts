import type { CallTable, Int64Responses, ItemFormat, ItemResponses, ResponseSchemaNode } from 'fastify-contract/client'
import { essenceOf, kindOf, type Schema } from 'fastify-contract/contract'
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
  typesOf,
  unnamedSchemas,
} from '../document/schemas.ts'

/** What the client needs to know of the responses of a document. */
export type ResponseTable = Int64Responses & { items?: ItemResponses }

/** Returns what the client needs to know of a document, without what is empty. */
export function clientTable(document: Document, { nodes, responses, items }: ResponseTable): CallTable {
  const parameters = callStyles(document)
  const keyed = keyedCalls(document)
  return {
    ...(nodes.length > 0 && { nodes, responses }),
    ...(items !== undefined && { items }),
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
 * Returns the nodes of int64 values in the JSON responses of a document, and the formats of the items of JSON Lines, JSON
 * text sequences and event streams.
 */
export function int64Responses(document: Document): ResponseTable {
  const table: Int64Responses = { nodes: [], responses: {} }
  const items: [string, ItemResponses[string]][] = []
  const indexes = new Map<string, number>()
  const keyOf = schemaKeys()
  const holdsInt64 = int64Holders(document)
  for (const { method, path, responses } of endpoints(document)) {
    const operation = `${method} ${path}`
    const roots = new Map<string, number | null>()
    const formats: [string, Record<string, ItemFormat>][] = []
    for (const [status, { content = {} }] of Object.entries(responses)) {
      roots.set(status, run(nodeOf(jsonSchemas(content))))
      const listed = Object.entries(content).filter(([type]) => ['lines', 'events'].includes(kindOf(type)))
      // A status without items is listed beside one with items: it precedes that of its range.
      formats.push([
        status,
        Object.fromEntries(listed.map(([type, { schema }]) => [essenceOf(type), format(type, schema)])),
      ])
    }
    if ([...roots.values()].some(isIndex)) table.responses[operation] = Object.fromEntries(roots)
    if (formats.some(([, byType]) => Object.keys(byType).length > 0))
      items.push([operation, Object.fromEntries(formats)])
  }
  return { ...table, ...(items.length > 0 && { items: Object.fromEntries(items) }) }

  /** Returns the format of the items of a sequential media type, whose schema describes an item or the data of an event. */
  function format(mediaType: string, schema: Schema | undefined): ItemFormat {
    const node = run(nodeOf([schema]))
    return {
      ...(node !== null && { node }),
      ...(kindOf(mediaType) === 'events' && { types: typesOf(document, schema).types }),
    }
  }

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
