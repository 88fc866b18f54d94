import { isAnnotation, kindOf } from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { hasNoTypes, withServedNames } from '../document/media-type-names.ts'
import { wholeStyle } from '../document/openapi-document.ts'
import { schemasDescribing } from '../document/schemas.ts'
import {
  isExtension,
  isNode,
  type Member,
  mapDocument,
  mapEntries,
  mapHeld,
  memberOf,
  type Node,
  type Transforms,
  withoutKeys,
} from '../document/walk-document.ts'
import { withNumericLimits } from '../read/schema-dialects.ts'
import { withoutNull } from './certain-types.ts'
import { partStyles } from './served-forms.ts'

/**
 * Returns the methods of a path item whose request body is ignored. OpenAPI 3.0 ignores those of GET and HEAD (section
 * 4.7.10). DELETE is served: its body has a use in practice. In 3.1, an optional body of HEAD is ignored, too.
 */
export function ignoredBodies(document: { openapi: string }, item: Node): string[] {
  const is30 = document.openapi.startsWith('3.0.')
  return (is30 ? ['get', 'head'] : ['head']).filter(function isIgnored(method) {
    const { requestBody } = Object(item[method]) as { requestBody?: Node }
    return requestBody !== undefined && (is30 || located(document, Object(requestBody)).required !== true)
  })
}

/**
 * Returns the keys of responses that are no status, or a status that does not end a request. They are ignored beside a
 * response with another one.
 */
export function unservedStatuses(responses: Node): string[] {
  const keys = Object.keys(responses).filter((key) => !key.startsWith('x-'))
  const unserved = keys.filter((key) => !/^(?:[2-5](?:\d\d|XX)|default)$/.test(key))
  return unserved.length === keys.length ? [] : unserved
}

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export const bodiless = ['204', '205', '304']

/**
 * Returns an OpenAPI document whose schemas are JSON Schema 2020-12, as in OpenAPI 3.1. In 3.0 a schema has nullable
 * next to its type, exclusiveMinimum and exclusiveMaximum are booleans, and siblings of a $ref are ignored (OpenAPI
 * 3.0.4, sections 4.7.24 and 4.7.23). Also leaves out what has no effect, so that nothing applies it. The version of
 * the result is 3.1, so that a second upgrade does not remove siblings of a $ref.
 */
export function asOpenApi31<Document extends { openapi: string }>(document: Document): Document {
  const version = document.openapi.slice(0, 4)
  const changes: Transforms =
    version === '3.0.' ? transforms : { schema: (schema) => withoutUnlisted(withoutKeys(schema, ['nullable'])) }
  const withContent = (kind: 'requestBody' | 'response' | 'parameter' | 'header') => (node: Node) =>
    withoutExtensions((changes[kind]?.(node, node) ?? node) as Node)
  const withBody = (kind: 'requestBody' | 'response') => (node: Node) => withServedNames(withContent(kind)(node))
  const served = mapDocument(version === '3.2.' ? asWritten31(document) : document, {
    ...changes,
    requestBody: (node) => withAnyType(withBody('requestBody')(node)),
    response: withBody('response'),
    parameter: withContent('parameter'),
    header: withContent('header'),
    operation: (node) => withResponses(document, node),
    pathItem: (node) => withoutIgnoredBodies(document, node),
  })
  return version === '3.1.' ? served : { ...served, openapi: '3.1.0' }
}

const contentMember = memberOf('requestBody', 'content') as Member

/** Returns an object whose content has media types only, and no extensions. */
const withoutExtensions = (node: Node): Node =>
  isNode(node.content) && Object.keys(node.content).some((name) => isExtension(contentMember, name))
    ? {
        ...node,
        content: withoutKeys(
          node.content,
          Object.keys(node.content).filter((name) => isExtension(contentMember, name)),
        ),
      }
    : node

/** Returns a request body that accepts bytes of any media type, if it lists none. */
const withAnyType = (body: Node): Node => (hasNoTypes(body) ? { ...body, content: { '*/*': {} } } : body)

/**
 * Returns an operation without the responses that are ignored, whose responses have content only if their status allows
 * a body. An operation without responses, which OpenAPI 3.1 allows, gets one for any status without a body.
 */
function withResponses(document: object, operation: Node): Node {
  const declared: Node = Object(operation.responses)
  // openapi-typescript takes every member for a response.
  const extensions = Object.keys(declared).filter((name) => name.startsWith('x-'))
  const given = mapEntries(withoutKeys(declared, [...extensions, ...unservedStatuses(declared)]), (response, status) =>
    bodiless.includes(status) ? withoutContent(document, response as Node) : response,
  )
  const responses = Object.keys(given).length === 0 ? { ...given, default: { description: '' } } : given
  return responses === operation.responses ? operation : { ...operation, responses }
}

function withoutContent(document: object, response: Node): Node {
  const { content, ...rest } = located(document, response)
  return content === undefined ? response : rest
}

const lone = (node: Node): Node => (typeof node.$ref === 'string' ? { $ref: node.$ref } : node)

const transforms: Transforms = {
  schema: (node) => upgraded(lone(node)),
  response: lone,
  parameter: lone,
  requestBody: (node) => withoutPartStyles(lone(node)),
  header: lone,
  callback: lone,
}

function withoutIgnoredBodies(document: { openapi: string }, item: Node): Node {
  const ignored = ignoredBodies(document, item)
  return mapEntries(item, (operation, name) =>
    ignored.includes(name) ? withoutKeys(operation as Node, ['requestBody']) : operation,
  )
}

/** Returns a request body without the styles of parts, which OpenAPI 3.0 ignores (section 4.7.15.1). */
const withoutPartStyles = (body: Node): Node =>
  mapHeld(body, 'content', (media, mediaType) =>
    kindOf(mediaType) === 'multipart'
      ? mapHeld(Object(media), 'encoding', (each) => withoutKeys(each as Node, partStyles))
      : media,
  )

function upgraded(node: Node): Node {
  let schema = withoutKeys(node, ['nullable'])
  if (node.nullable === true && typeof node.type === 'string') schema = { ...schema, type: [node.type, 'null'] }
  return withoutUnlisted(withNumericLimits(schema))
}

/**
 * Returns a schema whose `type` and `enum` or `const` both have null, or neither does, so that its TypeScript type is
 * what the schema allows. null is allowed only if both allow it: `nullable` only adds null to the type (OpenAPI 3.0.3,
 * proposal "Clarify Semantics of nullable").
 */
function withoutUnlisted(schema: Node): Node {
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined
  if (values === undefined) return schema
  const types = [schema.type ?? []].flat()
  if (types.length === 0 || types.includes('null') === values.includes(null)) return schema
  if (!types.includes('null')) {
    const others = values.filter((value) => value !== null)
    return Array.isArray(schema.enum) && others.length > 0 ? { ...schema, enum: others } : schema
  }
  return withoutNull(schema)
}

/**
 * Returns a document in which the additions of OpenAPI 3.2 that 3.1 can express are written as in 3.1. A $ref to a
 * media type is replaced by its target. The item schema of JSON Lines becomes an array schema, and that of
 * an event stream becomes the schema of the events' data. A parameter for the whole query string becomes a query
 * parameter of a style of its own. The other additions stay; the generator supports or rejects
 * them later.
 */
function asWritten31<Document extends object>(document: Document): Document {
  const inPlace = mapDocument(document, { mediaType: (node) => located(document, node) })
  const inBody = (body: Node) =>
    mapHeld(body, 'content', (media, name) => (isNode(media) ? withItems(document, name, media) : media))
  return mapDocument(inPlace, {
    response: inBody,
    requestBody: inBody,
    pathItem: (node) => withRequiredQuery(document, node),
    parameter: (node) => (node.in === 'querystring' ? { ...node, in: 'query', style: wholeStyle } : node),
    example: ({ dataValue, ...example }) => ({ ...(dataValue !== undefined && { value: dataValue }), ...example }),
  })
}

/** Returns a path item whose operation QUERY requires its body, as RFC 10008 section 2 says. */
const withRequiredQuery = (document: object, item: Node): Node =>
  mapEntries(item, function requireBody(operation, method) {
    if (method !== 'query' || !isNode(operation) || !isNode(operation.requestBody)) return operation
    const body = located(document, operation.requestBody)
    return body.required === true ? operation : { ...operation, requestBody: { ...body, required: true } }
  })

function located(document: object, node: Node): Node {
  if (typeof node.$ref !== 'string') return node
  return located(document, resolve(document, node.$ref) as Node)
}

/**
 * Returns a media type with the schema of its items as its own. Keeps an `itemSchema` that is not applied in full: a
 * schema beside it is not applied at all, and of an event only the data are.
 */
function withItems(document: object, mediaType: string, media: Node): Node {
  const { itemSchema, ...rest } = media
  const kind = kindOf(mediaType)
  if (itemSchema === undefined || (kind !== 'events' && kind !== 'lines')) return media
  const exact = kind === 'lines' ? { type: 'array', items: itemSchema } : eventData(document, itemSchema)
  if (exact !== undefined && !('schema' in rest)) return { ...rest, schema: exact }
  return { ...media, schema: exact ?? looseData(document, itemSchema) }
}

/** Returns the schema of the data of an event whose schema constrains more than that. */
function looseData(document: object, schema: unknown): unknown {
  const held = schemasDescribing(document, [schema], []).map(({ properties }) => Object(properties) as Node)
  const holder = held.find((properties) => Object.hasOwn(properties, 'data'))
  return holder === undefined ? true : dataOf(holder.data)
}

/**
 * Returns the schema of the data that a handler yields for each event, from the schema of an event (OpenAPI 3.2 section
 * 4.14.3.2). Data with contentMediaType application/json are JSON values. Returns undefined if the schema constrains
 * more than the data and the types of the other fields: the service would not check that.
 */
function eventData(document: object, schema: unknown, seen: unknown[] = []): unknown {
  if (!isNode(schema) || seen.includes(schema)) return undefined
  if (typeof schema.$ref === 'string' && hasOnly(schema, ['$ref'])) {
    return eventData(document, resolve(document, schema.$ref), [...seen, schema])
  }
  const { properties, required = [] } = schema
  if (!isNode(properties) || !hasOnly(schema, ['type', 'required', 'properties'])) return undefined
  const { data = true, ...others } = properties
  const areFree = Object.entries(others).every(([name, one]) => isField(name, one))
  return areFree && [required].flat().every((name) => name === 'data') ? dataOf(data) : undefined
}

const fieldTypes: Record<string, string> = { event: 'string', id: 'string', retry: 'integer' }

const isField = (name: string, schema: unknown): boolean =>
  isNode(schema) && schema.type === fieldTypes[name] && hasOnly(schema, ['type'])

/** Returns whether a schema has no keywords but these and annotations. */
const hasOnly = (schema: Node, keywords: string[]): boolean =>
  Object.keys(schema).every((keyword) => keywords.includes(keyword) || isAnnotation(keyword))

function dataOf(schema: unknown): unknown {
  if (!isNode(schema) || schema.contentMediaType !== 'application/json') return schema
  return schema.contentSchema ?? true
}
