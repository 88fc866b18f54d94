import { decodedOrSame, type Schema, type SecurityRequirement } from 'fastify-contract/contract'
import { join, keysOf, resolve } from './json-pointer.ts'
import { isNode, kindAt, methods } from './walk-document.ts'

// These types have only the parts of a bundled OpenAPI 3.1 document that the generator reads.
export type MediaType = { schema?: Schema; encoding?: Record<string, Encoding> }
export type MediaTypes = Record<string, MediaType>
/** How a property of a form is sent (section 4.8.15). */
export type Encoding = {
  contentType?: string
  headers?: object
  style?: string
  explode?: boolean
  allowReserved?: boolean
}
/** The style that stands for `in: querystring` of OpenAPI 3.2 in a document of 3.1. */
export const wholeStyle = 'querystring'

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  schema?: Schema
  content?: MediaTypes
  /** `wholeStyle` for a parameter that is the whole query string. */
  style?: string
  explode?: boolean
  allowEmptyValue?: boolean
}
export type RequestBody = { required?: boolean; content: MediaTypes }
export type Header = { required?: boolean; schema?: Schema; content?: MediaTypes; style?: string; explode?: boolean }
/** The style that stands for the media type of JSON in the content of a response header. */
export const jsonStyle = 'json'
export type Response = { content?: MediaTypes; headers?: Record<string, Header> }

export type Document = {
  openapi: string
  info: { title: string; version: string; description?: string }
  paths?: Record<string, object>
  servers?: Server[]
  security?: SecurityRequirement[]
  components?: object
}

/** A part of a document with the pointer to its location after following any $ref. */
export type Located<T> = T & { pointer: string }

/** One operation of a document, with what it inherits from its path and from the document. */
export type Endpoint = {
  pointer: string
  path: string
  /** The URL of its first server, before the path. */
  server: string
  /** The served paths: the path below each base path of its servers. */
  routes: string[]
  method: string
  /** The keys that lead from its path item to it. */
  keys: string[]
  /** The operationId of the document, or else a stable one that is derived from the method and the path only. */
  operationId: string
  hasDerivedId: boolean
  parameters: Located<Parameter>[]
  requestBody: Located<RequestBody> | undefined
  /** The responses by the document's status: a number, a range such as 4XX, or default. */
  responses: Record<string, Located<Response>>
  security: SecurityRequirement[]
}

type Item = { parameters?: object[]; servers?: Server[] }
type Operation = Item & {
  operationId?: string
  requestBody?: object
  responses?: Record<string, object>
  security?: SecurityRequirement[]
}

/** The operations of each document, which no stage changes. */
const known = new WeakMap<Document, Endpoint[]>()

/**
 * Returns the operations of a document in document order (OpenAPI 3.1 sections 4.8.8 to 4.8.10), each with an operationId
 * of its own.
 */
export function endpoints(document: Document): Endpoint[] {
  const found = known.get(document)
  if (found !== undefined) return found
  const all: Endpoint[] = []
  for (const path of Object.keys(document.paths ?? {})) {
    if (!path.startsWith('/')) continue
    const item = itemAt(document, path)
    for (const location of operationsIn(item)) all.push(endpointOf(document, path, item, location))
  }
  const unique = withUniqueIds(all)
  known.set(document, unique)
  return unique
}

/** Returns operations by their operationId. */
export const byOperationId = <One extends { operationId: string }>(all: One[]): Map<string, One> =>
  new Map(all.map((one) => [one.operationId, one]))

/** Returns operations with a derived operationId in place of one that an earlier operation has, too. */
function withUniqueIds(all: Endpoint[]): Endpoint[] {
  const taken = new Set<string>()
  const doubles = new Set<Endpoint>()
  for (const one of all) if (one.hasDerivedId || taken.size === taken.add(one.operationId).size) doubles.add(one)
  const unique: Endpoint[] = []
  for (const one of all) {
    if (!doubles.has(one)) {
      unique.push(one)
      continue
    }
    const derived = derivedId(one.method, one.path)
    let operationId = derived
    for (let count = 2; taken.has(operationId); count++) operationId = `${derived}${count}`
    taken.add(operationId)
    unique.push({ ...one, operationId, hasDerivedId: true })
  }
  return unique
}

/** A request that the document describes as a webhook, or in a callback, which has the expression of its URL. */
export type Outgoing = { name: string; item: Located<object>; expression?: string }

/**
 * Returns the webhooks and callbacks of a document. A callback is named by its operation and its name; each further
 * path item of one callback also by its expression.
 */
export function outgoingItems(document: Document): Outgoing[] {
  const { webhooks = {} } = document as Document & { webhooks?: object }
  const found: Outgoing[] = []
  for (const name of named(webhooks)) found.push({ name, item: locate(document, join('#', 'webhooks', name)) })
  for (const { operationId, pointer } of endpoints(document)) {
    const { callbacks = {} } = resolve(document, pointer) as { callbacks?: object }
    for (const name of named(callbacks)) {
      const { pointer: holder, ...items } = locate<object>(document, join(pointer, 'callbacks', name))
      for (const [index, expression] of named(items).entries()) {
        const item = locate<object>(document, join(holder, expression))
        found.push({ name: `${operationId} ${index === 0 ? name : `${name} ${expression}`}`, item, expression })
      }
    }
  }
  return found
}

/** Returns the keys of a map that are not extensions. */
export const named = (map: object): string[] => Object.keys(map).filter((key) => !key.startsWith('x-'))

/** Returns the operations of webhooks and callbacks, each with its name as its operationId. */
export function outgoingEndpoints(document: Document): Endpoint[] {
  const found: Endpoint[] = []
  for (const { name, item } of outgoingItems(document)) {
    for (const location of operationsIn(item)) {
      const endpoint = endpointOf(document, name, item as Located<Item>, location)
      found.push({ ...endpoint, routes: [], operationId: name })
    }
  }
  return found
}

/** Returns the path item of a path. */
export const itemAt = (document: Document, path: string): Located<Item> =>
  locate<Item>(document, join('#', 'paths', path))

/** Returns the pointer to a path item after following any $ref; undefined if that leads to none. */
export function itemPointer(document: Document, pointer: string, seen: string[] = []): string | undefined {
  const item = resolve(document, pointer)
  if (!isNode(item) || seen.includes(pointer)) return undefined
  if (!Object.hasOwn(item, '$ref')) {
    const isOther = ![undefined, 'pathItem'].includes(kindAt(keysOf(pointer)))
    return isOther ? undefined : pointer
  }
  return isPointer(item.$ref) ? itemPointer(document, item.$ref, [...seen, pointer]) : undefined
}

/** Returns whether a reference leads into the document, and not to all of it. */
export const isPointer = (reference: unknown): reference is string =>
  typeof reference === 'string' && reference.startsWith('#/')

function endpointOf(
  document: Document,
  path: string,
  item: Located<Item>,
  { method, keys }: OperationLocation,
): Endpoint {
  const pointer = join(item.pointer, ...keys)
  const operation = { ...(resolve(document, pointer) as Operation), pointer }
  const { operationId, requestBody, responses = {}, security = document.security ?? [] } = operation
  const servers = operation.servers ?? item.servers ?? document.servers ?? []
  const located: [string, Located<Response>][] = []
  for (const status of named(responses))
    located.push([status, locatedAt<Response>(document, responses[status], join(pointer, 'responses', status))])
  return {
    pointer,
    path,
    server: serverUrl(servers),
    routes: basePaths(servers).map((base) => withCharacters(base + routedPath(path))),
    method,
    keys,
    operationId: operationId || derivedId(method, path),
    hasDerivedId: !operationId,
    parameters: parametersOf(document, item, operation),
    requestBody: requestBody && locatedAt<RequestBody>(document, requestBody, join(pointer, 'requestBody')),
    responses: Object.fromEntries(located),
    security,
  }
}

/** Returns a path without a fragment, which clients do not send. */
export const withoutFragment = (path: string): string => path.replace(/#[^{}]*$/, '')

/** Matches the query of a path: pairs, each with a value that is a text or a parameter. */
const queryOfPath = /\?((?:[^?&={}]+(?:=(?:[^?&{}]*|\{[^{}]+\}))?(?:&|$))+)$/

/** Returns a path as requests are routed: without a fragment and a query. */
export const routedPath = (path: string): string => withoutFragment(path).replace(queryOfPath, '')

/**
 * Returns a path with its percent-encoded characters decoded, as the router compares them (RFC 3986 section 6.2.2.2),
 * except delimiters and what has a meaning in a path of OpenAPI or of the router.
 */
const withCharacters = (path: string): string =>
  path.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    const text = decodedUri(encoded)
    return /[%{}*\p{Cc}]/u.test(text) ? encoded : text
  })

function decodedUri(encoded: string): string {
  try {
    return decodeURI(encoded)
  } catch {
    return encoded
  }
}

/** A pair in the query of a path, whose value is a text or the name of a parameter. */
export type PathPair = { name: string; value: string; parameter?: string }

/** Returns the pairs in the query of a path; none if it has no query or an unsupported one. */
export function pathQuery(path: string): PathPair[] {
  const [, query] = queryOfPath.exec(withoutFragment(path)) ?? []
  const pairs: PathPair[] = []
  for (const pair of (query ?? '').split('&')) {
    if (pair === '') continue
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const [, parameter] = /^\{(.*)\}$/.exec(value) ?? []
    const text = { name: decodedOrSame(name), value: decodedOrSame(value) }
    pairs.push(parameter === undefined ? text : { ...text, parameter })
  }
  return pairs
}

/** Returns a name in camelCase: `getOwnersByOwnerIdPets` for GET /owners/{owner-id}/pets. */
const derivedId = (method: string, path: string): string =>
  `${method.toLowerCase()}${path.replaceAll('{', '/by/')}`
    .split(/[^\p{L}\p{N}]+/u)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')

/**
 * Headers that a document describes by other means: header parameters with these names are ignored (section 4.8.12.2).
 */
const notParameters = ['accept', 'content-type', 'authorization']

/** Returns whether OpenAPI says that a parameter is ignored. */
export const isIgnored = ({ name, in: kind }: Parameter): boolean =>
  kind === 'header' && notParameters.includes(name.toLowerCase())

/** Returns the parameters of an operation; its own override those of its path item. */
export function parametersOf(document: Document, ...holders: Located<Item>[]): Located<Parameter>[] {
  const kept = new Map<string, Located<Parameter>>()
  for (const { parameters = [], pointer } of holders) {
    for (const [index, given] of parameters.entries()) {
      const parameter = locatedAt<Parameter>(document, given, join(pointer, 'parameters', String(index)))
      if (!isIgnored(parameter)) kept.set(parameterKey(parameter), parameter)
    }
  }
  return [...kept.values()]
}

/** Returns what is unique to a parameter. The case of a header does not matter (RFC 9110 section 5.1). */
export const parameterKey = ({ in: location, name }: Parameter): string =>
  `${location} ${location === 'header' ? name.toLowerCase() : name}`

/** Returns an object of a document, after following any $ref. */
export const resolved = <T>(document: Document, node: { $ref?: string }): T =>
  node.$ref === undefined ? (node as T) : locate<T & object>(document, node.$ref)

/** Returns the object at a pointer in a document, after following any $ref. */
export const locate = <T>(document: Document, pointer: string): Located<T> =>
  locatedAt(document, resolve(document, pointer), pointer)

/** Returns the object at a pointer in a document, after following any $ref of it. */
function locatedAt<T>(document: Document, given: unknown, pointer: string): Located<T> {
  const found = given as T & { $ref?: string }
  return found.$ref === undefined ? { ...found, pointer } : locate(document, found.$ref)
}

/** Returns the pointer to the security requirements that apply to an operation: its own or those of the document. */
export const securityPointer = (document: Document, { pointer }: Endpoint): string => {
  const isOwn = Object.hasOwn(Object(resolve(document, pointer)), 'security')
  return `${isOwn ? pointer : '#'}/security`
}

/** Returns the pointer to a security scheme. */
export const schemePointer = (name: string): string => join('#', 'components', 'securitySchemes', name)

/** An operation of a path item: its HTTP method, and the keys that lead to it. */
type OperationLocation = { method: string; keys: string[] }

/** Returns the operations of a path item, including the additionalOperations of OpenAPI 3.2. */
export function operationsIn(item: object): OperationLocation[] {
  const found: OperationLocation[] = []
  for (const name of methods) if (Object.hasOwn(item, name)) found.push({ method: name.toUpperCase(), keys: [name] })
  for (const method of Object.keys(Object((item as { additionalOperations?: object }).additionalOperations)))
    found.push({ method, keys: ['additionalOperations', method] })
  return found
}

export type Server = { url: string; variables?: Record<string, { default: string; enum?: string[] }> }

/** Matches the scheme and the authority of a URL (RFC 3986 section 3), which may contain variables. */
const origin = /^(?:[^/]*:)?\/\/[^/]*/

/** Matches the same in a URL whose variables are filled. The one after its scheme may have a scheme, too. */
const filledOrigin = /^(?:[^/]*:)?\/\/(?:[^/]*:\/\/)?[^/]*/

/**
 * Returns the base paths of the servers of an operation, without a trailing slash. A variable yields one path for each
 * value of its enum, or else its default (OpenAPI 3.1 section 4.8.6). Without servers the only base path is the root.
 */
export const basePaths = (servers: Server[]): string[] =>
  servers.length === 0 ? [''] : [...new Set(servers.flatMap(pathsOf))]

/** What precedes the name of a server variable whose value is itself a template, which any text may fill. */
export const serverVariable = 'server_variable_'

function pathsOf({ url, variables = {} }: Server): string[] {
  const path = url.replace(origin, '')
  let urls = [url]
  for (const [name, { default: value, enum: values = [value] }] of Object.entries(variables)) {
    // A variable before the path may hold a part of it, as in {protocol}://{host}{basePath} and in {endpoint} of Azure.
    const isInPath = path.includes(`{${name}}`) || values.some((one) => one.includes('/'))
    const chosen = (isInPath ? values : [value]).map((one) =>
      one.replace(/^\{[^{}]*\}$/, `{${serverVariable}${name.replace(/\W/g, '_')}}`),
    )
    urls = [...new Set(urls.flatMap((one) => chosen.map((each) => one.replaceAll(`{${name}}`, each))))]
  }
  const before = origin.test(url) ? filledOrigin : /^[a-z][a-z\d+.-]*:\/\/[^/]*/i
  return urls.map((one) => withoutLastSlash(one.replace(before, ''))).map((one) => (isRelative(one) ? `/${one}` : one))
}

/** Returns whether a server URL is a path without a leading slash, and not a host without a scheme. */
export const isRelative = (url: string): boolean => /^(?!localhost)[\w-]+(?:\/|$)/.test(url)

/** Returns the URL of a server with the defaults of its variables. */
export const withDefaults = ({ url, variables = {} }: Server): string =>
  Object.entries(variables).reduce((text, [name, { default: value }]) => text.replaceAll(`{${name}}`, value), url)

/**
 * Returns the URL of the first server without a trailing slash, relative to the default origin of a service. If it is no
 * valid URL, as with an undescribed variable in its host, only its path counts.
 */
export function serverUrl([server = { url: '' }]: Server[]): string {
  const filled = withDefaults(server)
  const own = 'http://127.0.0.1:3000'
  return withoutLastSlash(new URL(URL.canParse(filled, own) ? filled : filled.replace(origin, ''), own).href)
}

/** Returns a URL without the slashes at its end, which a variable may have added: each path begins with a slash. */
const withoutLastSlash = (url: string): string => url.replace(/\/+$/, '')
