import {
  kindOf,
  type Schema,
  type Selector,
  type SerializedParameter,
  type SerializedValue,
  type ServedOperation,
  type ServedPath,
} from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { formOf, isForm } from './forms.ts'
import { resolve } from './json-pointer.ts'
import {
  type Document,
  type Endpoint,
  type MediaTypes,
  type Parameter,
  pathQuery,
  routedPath,
  serverVariable,
  wholeStyle,
} from './openapi-document.ts'
import { isInteger, listedValues, partsOf } from './schemas.ts'
import { serializedValue } from './styled-values.ts'
import { mapDocument, type Node } from './walk-document.ts'

/** The default style for each location of parameters (OpenAPI 3.1 section 4.8.12.2.1). */
export const defaultStyles = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const

/** Returns the description of how the service reads a parameter from a request. */
export function serializedParameter(document: Document, path: string, parameter: Parameter): SerializedParameter {
  const { in: location, name } = parameter
  const keys = { path: routerNames(routedPath(path)).get(name), header: name.toLowerCase(), query: name, cookie: name }
  const value = parameterValue(document, parameter)
  const segment = isSplit(parameter, value) ? segmentOf(routedPath(path), name) : undefined
  return {
    in: location,
    ...value,
    key: keys[location] as string,
    ...(segment && { segment }),
    ...defaultOf(document, parameter),
  }
}

/** Returns whether a parameter must be split before it is percent-decoded, which the router cannot do. */
export const isSplit = ({ in: location }: Parameter, { style, kind }: SerializedValue): boolean =>
  location === 'path' && (style === 'label' || style === 'matrix' || kind === 'array' || kind === 'object')

/** Returns whether a parameter is the whole query string. */
export const isWhole = ({ style, content }: Parameter): boolean => style === wholeStyle && content !== undefined

/** Returns how the whole query string is read. Rules have checked that it is a form or JSON. */
function wholeValue(document: Document, { name, content }: Parameter): Omit<SerializedParameter, 'in'> {
  const [[mediaType, media] = ['', {}]] = Object.entries(content as MediaTypes)
  const value = { name, key: name, style: 'form', explode: true, types: [] } as const
  if (!isForm(mediaType)) return { ...value, types: [], kind: 'json', whole: 'json' }
  return { ...value, types: [], kind: 'object', properties: {}, whole: formOf(document, mediaType, media) }
}

function parameterValue(document: Document, parameter: Parameter): Omit<SerializedParameter, 'in'> {
  if (isWhole(parameter)) return wholeValue(document, parameter)
  const style = defaultStyles[parameter.in]
  if (parameter.content === undefined) return serializedValue(document, { style, ...parameter })
  const text = serializedValue(document, { name: parameter.name, style })
  return isJson(parameter) ? { ...text, kind: 'json' } : { ...text, types: ['string'] }
}

/** The member of a parameter whose default is not used, since its schema rejects it. */
const unusedDefault = 'x-unused-default'

/** Returns a document that does not use the defaults of the parameters at these pointers. */
export function withoutDefaults(document: Document, pointers: Iterable<string>): Document {
  const unused = new Set(Array.from(pointers, (pointer) => resolve(document, pointer)))
  return mapDocument(document, {
    parameter: (node) => (unused.has(node) ? { ...node, [unusedDefault]: true } : node),
  })
}

/**
 * Returns the JSON text of the default that applies if a parameter is absent: that of its own schema, also through a
 * $ref.
 */
export function defaultOf(document: Document, parameter: Parameter): { default?: string } {
  if (parameter.required || parameter.in === 'path' || Object.hasOwn(parameter, unusedDefault)) return {}
  for (const { schema, isOwn } of partsOf(document, schemaOf(parameter)))
    if (isOwn && schema.default !== undefined) return { default: String(stringifyJson(schema.default)) }
  return {}
}

/**
 * Returns the required parameters by which the router can choose an operation, in order of names: those with one value,
 * and those that the query of the path names.
 */
export function selectorsOf(
  document: Document,
  { path, parameters }: Pick<Endpoint, 'path' | 'parameters'>,
): Selector[] {
  const selectors: Selector[] = []
  const pairs = pathQuery(path)
  for (const { in: location, name, required, schema = true, allowEmptyValue } of parameters) {
    if (!required || (location !== 'query' && location !== 'header')) continue
    const [value, ...others] = listedValues(document, [schema]) ?? []
    const isText = typeof value === 'string' || typeof value === 'boolean' || isInteger(value)
    if (isText && others.length === 0)
      selectors.push({ in: location, name, texts: [...new Set([String(value), ...(allowEmptyValue ? [''] : [])])] })
    else if (location === 'query' && pairs.some((pair) => pair.parameter !== undefined && pair.name === name))
      selectors.push({ in: location, name })
  }
  return selectors.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns what the router knows of an operation: its method and each of its paths. */
export const routeKeys = ({ method, servedPaths }: ServedOperation): string[] =>
  servedPaths.map(({ pattern }) => `${method} ${pattern}`)

/** Returns the object with the schema and the examples of a parameter: the parameter itself, or its media type. */
export function holderOf(parameter: Parameter): WithExample {
  const [media] = Object.values(parameter.content ?? {})
  return media ?? parameter
}

/** Returns whether an example request includes a parameter. */
export const isShown = (parameter: Parameter): boolean =>
  parameter.required === true || 'example' in holderOf(parameter) || 'examples' in holderOf(parameter)

/** Returns the schema of a parameter: its own or that of its content. */
export const schemaOf = (parameter: Parameter): Schema => holderOf(parameter).schema ?? true

/** Returns whether a parameter is described by content with a JSON media type. */
export const isJson = ({ content = {} }: Parameter): boolean =>
  Object.keys(content).some((mediaType) => kindOf(mediaType) === 'json')

/** Returns a parameter with the schema of its content: openapi-typescript does not support content of parameters. */
export function withSchema(node: Node): Node {
  const { content, ...parameter } = node
  if (content === undefined) return node
  const schema = schemaOf(node as Parameter)
  const isAny = Object.keys(schema).length === 0
  return { ...parameter, schema: isAny && !isJson(node as Parameter) ? { type: 'string' } : schema }
}

const template = /\{([^}]*)\}/g

/**
 * Returns the names that Fastify's router uses for the parameters of a path, by the names in the document. They are
 * equal unless one of them has a character that ends a name for the router: then all are numbered (p0, p1, …).
 */
function routerNames(path: string): Map<string, string> {
  const all = Array.from(path.matchAll(template), ([, name = '']) => name)
  // The path of the document, by which its parameters are named, has no variables of servers.
  const names = all.filter((name) => !name.startsWith(serverVariable))
  const areWords = names.every((name) => /^\w+$/.test(name))
  const routed = new Map<string, string>()
  for (const name of all) if (name.startsWith(serverVariable)) routed.set(name, name)
  for (const [index, name] of names.entries()) routed.set(name, areWords ? name : `p${index}`)
  return routed
}

/** Returns the place of a parameter that is the last and only one of its path segment, or else undefined. */
export function segmentOf(path: string, name: string): { fromEnd: number; prefix: string } | undefined {
  const segments = path.split('/')
  const index = segments.findIndex((segment) => segment.endsWith(`{${name}}`))
  const prefix = segments[index]?.slice(0, -`{${name}}`.length)
  return prefix === undefined || prefix.includes('{') ? undefined : { fromEnd: segments.length - index, prefix }
}

/** Returns a served path in three notations: OpenAPI's, Fastify's, and as a regular expression. */
export function servedPath(path: string): ServedPath {
  const names = routerNames(path)
  const urls: string[] = []
  const patterns: string[] = []
  for (const segment of path.split('/')) {
    const parts = segment.split(template)
    urls.push(routerSegment(parts, names))
    patterns.push(segmentPattern(parts))
  }
  return { path, url: urls.join('/'), pattern: `^${patterns.join('/')}$` }
}

/** Returns a regular expression for a segment, from its texts and the names of its parameters between them. */
function segmentPattern(parts: string[]): string {
  let pattern = ''
  for (const [index, part] of parts.entries())
    pattern += index % 2 === 0 ? escaped(part) : parameterExpression(parts, index, '[^/]')
  return pattern
}

/**
 * Returns a segment in the syntax of Fastify's router, from its texts and the names of its parameters between them. A
 * parameter beside a text has a regular expression.
 */
function routerSegment(parts: string[], names: Map<string, string>): string {
  let segment = ''
  for (const [index, part] of parts.entries()) {
    // A colon has no special meaning in OpenAPI; the router needs it doubled.
    if (index % 2 === 0) segment += part.replaceAll(':', '::')
    else if (parts.join('') === part) segment += `:${names.get(part)}`
    else segment += `:${names.get(part)}(${parameterExpression(parts, index, '[\\s\\S]')})`
  }
  return segment
}

/**
 * Returns a regular expression for the value of a parameter. It ends at the first occurrence of the text before the
 * next parameter of the segment, so that a match takes linear time.
 */
const parameterExpression = (parts: string[], index: number, character: string): string =>
  index === parts.length - 2 ? `${character}+` : `(?:(?!${escaped(parts[index + 1] as string)})${character})+`

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export type Example = { value?: unknown }

/** A media type or a parameter. */
export type WithExample = { schema?: Schema; example?: unknown; examples?: Record<string, Example> }
