import type { Schema } from '../serve/schema-keywords.ts'
import type { Document } from './openapi-document.ts'
import { type Kind, memberOf } from './openapi-grammar.ts'
import type { Direction } from './read-write-marks.ts'
import { schemasByDirection } from './read-write-schemas.ts'
import { isNode, mapTree, type Node, walkSchemas } from './walk-document.ts'

/** The directions of an operation's request and response, as the client of the service sees them. */
type Directions = [ofRequest: Direction, ofResponse: Direction]

/**
 * Returns a document with shared schemas in which the schemas of requests do not constrain readOnly properties, and
 * those of responses do not constrain writeOnly ones: such a property may have any value and is ignored. In a callback
 * or a webhook the service sends the request, so the directions are swapped.
 */
export function withDirections(document: Document): Document {
  let isMarked = false
  walkSchemas(document, ({ readOnly, writeOnly }) => {
    isMarked ||= readOnly === true || writeOnly === true
  })
  if (!isMarked) return document
  const { paths, webhooks, components } = document as Document & Record<string, Node | undefined>
  const { schemas } = Object(components) as { schemas?: Record<string, Schema> }
  const { directed, added } = schemasByDirection(document, schemas ?? {})

  const itemOf = (item: unknown, directions: Directions): unknown =>
    mapped(item, (name, value) => {
      const kind = memberOf('pathItem', name)?.kind
      if (kind === 'parameter') return part(value, kind, directions[0])
      return kind === 'operation' ? operationOf(value, directions) : value
    })
  const operationOf = (operation: unknown, [ofRequest, ofResponse]: Directions): unknown =>
    mapped(operation, (name, value) => {
      if (name === 'parameters') return part(value, 'parameter', ofRequest)
      if (name === 'requestBody') return mapTree(value, name, transforms(ofRequest))
      if (name === 'responses') return part(value, 'response', ofResponse)
      return name === 'callbacks'
        ? mapped(value, (_, callback) => callbackOf(callback, [ofResponse, ofRequest]))
        : value
    })
  const callbackOf = (callback: unknown, directions: Directions): unknown =>
    mapped(callback, (name, item) => (name === '$ref' ? item : itemOf(item, directions)))
  /** Maps each object of an array or a map. */
  const part = (value: unknown, kind: Kind, direction: Direction): unknown =>
    Array.isArray(value)
      ? value.map((each) => mapTree(each, kind, transforms(direction)))
      : mapped(value, (_, each) => mapTree(each, kind, transforms(direction)))
  const transforms = (direction: Direction) => ({
    mediaType: holder('mediaType', direction),
    parameter: holder('parameter', direction),
    header: holder('header', direction),
  })
  const holder = (kind: Kind, direction: Direction) => (node: Node) =>
    mapped(node, (name, value) =>
      memberOf(kind, name)?.kind === 'schema' ? directed(value as Schema, direction) : value,
    )

  const served: Directions = ['request', 'response']
  const componentOf: Record<string, (value: unknown) => unknown> = {
    parameters: (value) => part(value, 'parameter', 'request'),
    requestBodies: (value) => part(value, 'requestBody', 'request'),
    responses: (value) => part(value, 'response', 'response'),
    headers: (value) => part(value, 'header', 'response'),
    pathItems: (value) => mapped(value, (_, item) => itemOf(item, served)),
    callbacks: (value) => mapped(value, (_, callback) => callbackOf(callback, ['response', 'request'])),
  }
  const others = mapped(components, (name, value) => componentOf[name]?.(value) ?? value) as Node
  const directedPaths = mapped(paths, (_, item) => itemOf(item, served))
  const directedWebhooks = mapped(webhooks, (_, item) => itemOf(item, ['response', 'request']))
  return {
    ...document,
    ...(paths !== undefined && { paths: directedPaths }),
    ...(webhooks !== undefined && { webhooks: directedWebhooks }),
    components: { ...others, schemas: { ...schemas, ...added } },
  } as Document
}

const mapped = (node: unknown, map: (name: string, value: unknown) => unknown): unknown =>
  isNode(node)
    ? Object.fromEntries(Object.entries(node).map(([name, value]) => [name, map(name, value)]))
    : (node ?? {})
