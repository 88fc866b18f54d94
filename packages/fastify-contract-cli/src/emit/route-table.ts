import {
  essenceOf,
  type Form,
  isDocumentation,
  isRange,
  kindOf,
  type Operation,
  type ResponseHeader,
  type RouteSchema,
  type Routes,
  type Schema,
  type Selector,
  type SerializedParameter,
} from 'fastify-contract/contract'
import { ignoredKeyword } from 'fastify-contract/schema'
import { checkedBody, checkedContent, headersOf, responseHeaders } from '../document/contents.ts'
import { deprecationHeaders } from '../document/deprecation.ts'
import { errorNumbersOf } from '../document/error-numbers.ts'
import { formOf, isForm } from '../document/forms.ts'
import { locationLink } from '../document/location-links.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type Parameter,
  type Response,
} from '../document/openapi-document.ts'
import { routeKeys, schemaOf, selectorsOf, serializedParameter, servedPath } from '../document/parameter-objects.ts'
import { withBoundedPatterns } from '../document/patterns.ts'
import { preconditionsOf } from '../document/preconditions.ts'
import { isExactInteger, type JsonType, typesOf } from '../document/schemas.ts'
import { apiKeyHeaders, credentialOf } from '../document/security-schemes.ts'
import { sharedName } from '../document/shared-schemas.ts'
import { mapTree, type Node, withoutKeys } from '../document/walk-document.ts'
import { withExactKeywords } from '../passes/exact-integers.ts'

/**
 * Returns the operations of a document with shared schemas as the service registers them, in Fastify's terms where
 * those exist, and the schemas that they share.
 */
export function routesOf(document: Document): Routes {
  const { title, version } = document.info
  const keys = apiKeyHeaders(document)
  const { operations, schemas } = convertedOperations(document, endpoints(document))
  const routings = routingOf(document)
  return {
    info: { title, version },
    operations: operations.map(function withSelectors(operation, index): Operation {
      const { selectors = [] } = routings[index] as Routing
      return selectors.length === 0 ? operation : { ...operation, selectors }
    }),
    ...(keys.length > 0 && { apiKeyHeaders: keys }),
    errorNumbers: errorNumbersOf(document),
    schemas,
  }
}

/** What the router knows of an operation. */
type Routing = Pick<Operation, 'method' | 'servedPaths' | 'selectors'>

/**
 * Returns what the router knows of each operation of a document: selectors only where other operations have the same
 * path. A document whose request bodies have no JSON under a range needs no other pass before.
 */
export function routingOf(document: Document): Routing[] {
  const all = endpoints(document)
  const routings: Routing[] = []
  const counts = new Map<string, number>()
  for (const { method, routes } of all) {
    const routing = { method: method as Operation['method'], servedPaths: routes.map(servedPath) }
    for (const key of routeKeys(routing)) counts.set(key, (counts.get(key) ?? 0) + 1)
    routings.push(routing)
  }
  for (const [index, routing] of routings.entries())
    if (routeKeys(routing).some((key) => counts.get(key) !== 1))
      routing.selectors = selectorsOf(document, all[index] as Endpoint)
  addMediaTypes(routings, all)
  return routings
}

/**
 * Adds the media types of operations to their selectors, where nothing else distinguishes them: the documents of Azure
 * have one operation for JSON and another for bytes.
 */
function addMediaTypes(routings: Routing[], all: Endpoint[]): void {
  const mediaTypes = all.map(({ requestBody }) => Object.keys(requestBody?.content ?? {}).map(essenceOf))
  const groups = new Map<string, number[]>()
  for (const [index, routing] of routings.entries()) {
    for (const each of routeKeys(routing)) {
      const key = each + JSON.stringify(routing.selectors ?? [])
      groups.set(key, [...(groups.get(key) ?? []), index])
    }
  }
  const apart = new Set<number>()
  for (const group of groups.values()) {
    const texts = group.flatMap((index) => mediaTypes[index] ?? [])
    const areDistinct = new Set(texts).size === texts.length && !texts.some(isRange)
    if (group.length < 2 || !areDistinct || !group.every((index) => all[index]?.requestBody)) continue
    for (const index of group) apart.add(index)
  }
  for (const index of apart) {
    const routing = routings[index] as Routing
    const ofBody: Selector = { in: 'header', name: 'Content-Type', texts: mediaTypes[index] ?? [] }
    routing.selectors = [...(routing.selectors ?? []), ofBody]
  }
}

/** Returns operations of a document with the schemas that they share, as `routesOf` does. */
export function convertedOperations(document: Document, given: Endpoint[]): Pick<Routes, 'operations' | 'schemas'> {
  const shared = new Map<string, Schema>()
  /** Returns a schema in the form that the service compiles, and adds the name of each $ref to `shared`. */
  const convert = (schema: Schema): Schema =>
    mapTree(asObject(schema), 'schema', {
      schema: (node) => {
        const { $ref, ...rest } = validatorSchema(node)
        if (typeof $ref !== 'string') return rest
        const name = sharedName($ref)
        if (!shared.has(name)) shared.set(name, {})
        return { $ref: `${safeName(name)}#`, ...rest }
      },
    }) as Schema
  const operations = given.map((endpoint) => operationOf(document, endpoint, convert))
  // Iteration over a Map includes the entries that are added meanwhile.
  for (const name of shared.keys()) shared.set(name, convert(schemasOf(document)[name] as Schema))
  const byName: [string, Schema][] = []
  for (const [name, schema] of shared) byName.push([safeName(name), schema])
  return { operations, schemas: Object.fromEntries(byName.sort(([one], [other]) => (one < other ? -1 : 1))) }
}

/**
 * Returns a name that Fastify and Ajv accept for a schema: both store schemas by name in plain objects, and Ajv parses
 * a name as a relative URI.
 */
const safeName = (name: string): string =>
  name in Object.prototype || !/^[\w-][\w.-]*$/.test(name) ? `schema-${Buffer.from(name).toString('hex')}` : name

const schemasOf = ({ components = {} }: Document) =>
  (components as { schemas?: Record<string, Schema> }).schemas as Record<string, Schema>

type Convert = (schema: Schema) => Schema

function operationOf(document: Document, endpoint: Endpoint, convert: Convert): Operation {
  const { operationId, method, routes, security, parameters, requestBody, responses } = endpoint
  const kinds: Partial<Record<(typeof parts)[Parameter['in']], Schema>> = {}
  for (const [kind, part] of Object.entries(parts)) {
    const described = parameters.filter((parameter) => parameter.in === kind)
    if (described.length > 0) kinds[part] = objectOf(described, convert)
  }
  const replies: [string, RouteSchema['response'][string]][] = []
  const withHeaders: [string, ResponseHeader[]][] = []
  for (const [status, response] of Object.entries(responses)) {
    replies.push([status, replyOf(document, response, convert)])
    const link = locationLink(document, response)
    const headers = responseHeaders(document, response).map((header) =>
      link !== undefined && header.name.toLowerCase() === 'location' ? { ...header, link } : header,
    )
    if (headers.length > 0) withHeaders.push([status, headers])
  }
  const schema: RouteSchema = {
    ...kinds,
    ...(requestBody && { body: { content: contentOf(checkedBody(document, requestBody), convert) } }),
    response: Object.fromEntries(replies),
  }
  const forms: [string, Form][] = []
  const events: [string, JsonType[]][] = []
  for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
    if (isForm(type)) forms.push([type, formOf(document, type, media, convert)])
    if (kindOf(type) === 'events') events.push([type, typesOf(document, media.schema).types])
  }
  const deprecation = deprecationHeaders(document, endpoint)
  const preconditions = preconditionsOf(document, endpoint)
  return {
    operationId,
    method: method as Operation['method'],
    servedPaths: routes.map(servedPath),
    security,
    ...(requestBody && { bodyRequired: requestBody.required === true }),
    parameters: parameters.map((parameter) =>
      withoutCredentials(document, endpoint, serializedParameter(document, endpoint.path, parameter)),
    ),
    ...(forms.length > 0 && { forms: Object.fromEntries(forms) }),
    ...(events.length > 0 && { eventTypes: Object.fromEntries(events) }),
    ...(withHeaders.length > 0 && { responseHeaders: Object.fromEntries(withHeaders) }),
    ...(deprecation !== undefined && { deprecation }),
    ...(preconditions !== undefined && { preconditions }),
    schema,
  }
}

function replyOf(document: Document, response: Located<Response>, convert: Convert): RouteSchema['response'][string] {
  const content = checkedContent(document, response)
  const described = headersOf(document, response).map(([name, { schema = true }]) => [name, convert(schema)])
  return {
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    ...(Object.keys(content).length > 0 ? { content: contentOf(content, convert) } : { type: 'null' }),
  }
}

/** Returns an object that accepts any name with the names of the credentials beside it, which it must not receive. */
function withoutCredentials(
  document: Document,
  { security }: Endpoint,
  parameter: SerializedParameter,
): SerializedParameter {
  if (!parameter.acceptsAnyName) return parameter
  const credentials = new Set<string>()
  for (const scheme of security.flatMap(Object.keys)) {
    const credential = credentialOf(document, scheme)
    if (credential?.in === parameter.in) credentials.add(credential.name)
  }
  return credentials.size === 0 ? parameter : { ...parameter, credentials: [...credentials] }
}

/** Fastify's names for the locations of parameters. */
const parts = { path: 'params', query: 'querystring', header: 'headers', cookie: 'cookies' } as const

const objectOf = (parameters: Located<Parameter>[], convert: Convert): Schema =>
  convert({
    type: 'object',
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
  })

const contentOf = (content: Record<string, { schema?: Schema }>, convert: Convert) =>
  Object.fromEntries(Object.entries(content).map(([type, { schema = true }]) => [type, { schema: convert(schema) }]))

/** Keywords that neither the validator nor the serializer needs; Ajv rejects `id`, which JSON Schema does not know. */
const unusedKeywords = ['id', '$defs', 'definitions']
const isUnused = (keyword: string) =>
  unusedKeywords.includes(keyword) || (isDocumentation(keyword) && keyword !== ignoredKeyword)

/** Returns a boolean schema as an equivalent object, which Fastify expects. */
const asObject = (schema: Schema): Schema => (schema === true ? {} : schema === false ? { not: {} } : schema)

/**
 * Returns a schema without annotations, but with the discriminator of a parent: its children have properties that it
 * does not list, which the serializer must send. Drops the format of an integer if the type allows other numbers: the
 * service would then accept integers only.
 */
function validatorSchema(node: Node): Node {
  const isParent = node.oneOf === undefined && node.anyOf === undefined
  const isRounded = /^(int32|u?int64)$/.test(String(node.format)) && !isExactInteger(node)
  const isDropped = (keyword: string) =>
    keyword === 'discriminator' ? !isParent : isUnused(keyword) || (isRounded && keyword === 'format')
  return withoutPrototype(
    withBoundedPatterns(withExactKeywords(withoutKeys(node, Object.keys(node).filter(isDropped)))),
  )
}

/** Moves a property called __proto__, which Ajv ignores, to patternProperties. */
function withoutPrototype(schema: Node): Node {
  const { properties, patternProperties } = schema as { properties?: Node; patternProperties?: Node }
  if (properties === undefined || !Object.hasOwn(properties, '__proto__')) return schema
  const own = Object.getOwnPropertyDescriptor(properties, '__proto__')?.value
  return {
    ...schema,
    properties: withoutKeys(properties, ['__proto__']),
    patternProperties: { ...patternProperties, '^__proto__$': own },
  }
}
