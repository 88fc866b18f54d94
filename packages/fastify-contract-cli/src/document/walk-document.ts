import { type SchemaShape, schemaKeywords } from 'fastify-contract/contract'
import { below } from './json-pointer.ts'

/** The objects of OpenAPI 3.1 (section 4.8) and 3.2 that hold schemas at any depth, or that a $ref may refer to. */
export type Kind =
  | 'document'
  | 'components'
  | 'pathItem'
  | 'operation'
  | 'parameter'
  | 'header'
  | 'requestBody'
  | 'response'
  | 'mediaType'
  | 'encoding'
  | 'example'
  | 'securityScheme'
  | 'callback'
  | 'schema'

/** How a member holds objects: like a schema keyword, or as a map that may also hold extensions (x-…). */
type Shape = SchemaShape | 'patterned'

export type Member = { shape: Shape; kind: Kind }

const one = (kind: Kind): Member => ({ shape: 'one', kind })
const list = (kind: Kind): Member => ({ shape: 'list', kind })
const map = (kind: Kind): Member => ({ shape: 'map', kind })
const patterned = (kind: Kind): Member => ({ shape: 'patterned', kind })

/** The methods of a path item, in the order in which a path's operations are generated; `query` is new in 3.2. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

const ofMethods = Object.fromEntries(methods.map((method) => [method, one('operation')]))
const ofSchema = Object.entries(schemaKeywords).map(([keyword, shape]) => [keyword, { shape, kind: 'schema' }])
const ofHeader = { schema: one('schema'), content: patterned('mediaType'), examples: map('example') }

/** The members of each kind that hold further objects; every other member is plain data. */
const members: Record<Kind, Record<string, Member>> = {
  document: { paths: patterned('pathItem'), webhooks: patterned('pathItem'), components: one('components') },
  components: {
    schemas: map('schema'),
    responses: map('response'),
    parameters: map('parameter'),
    requestBodies: map('requestBody'),
    headers: map('header'),
    examples: map('example'),
    securitySchemes: map('securityScheme'),
    callbacks: map('callback'),
    pathItems: map('pathItem'),
    mediaTypes: map('mediaType'),
  },
  pathItem: { ...ofMethods, additionalOperations: map('operation'), parameters: list('parameter') },
  operation: {
    parameters: list('parameter'),
    requestBody: one('requestBody'),
    responses: patterned('response'),
    callbacks: patterned('callback'),
  },
  parameter: ofHeader,
  header: ofHeader,
  requestBody: { content: patterned('mediaType') },
  response: { headers: map('header'), content: patterned('mediaType') },
  mediaType: {
    schema: one('schema'),
    itemSchema: one('schema'),
    encoding: map('encoding'),
    prefixEncoding: list('encoding'),
    itemEncoding: one('encoding'),
    examples: map('example'),
  },
  encoding: {
    headers: map('header'),
    encoding: map('encoding'),
    prefixEncoding: list('encoding'),
    itemEncoding: one('encoding'),
  },
  example: {},
  securityScheme: {},
  callback: {},
  schema: Object.fromEntries(ofSchema),
}

/** Returns whether a key of a map is an extension; x-world/x-vrml is a media type. */
export const isExtension = ({ shape, kind }: Member, key: string): boolean =>
  shape === 'patterned' && key.startsWith('x-') && (kind !== 'mediaType' || !key.includes('/'))

/** Returns what kind of objects a member holds, and how; undefined for plain data. */
export function memberOf(kind: Kind, name: string): Member | undefined {
  // Each member of a callback is an expression, whose value is a path item (section 4.8.18).
  if (kind === 'callback') return name.startsWith('x-') || name === '$ref' ? undefined : one('pathItem')
  return Object.hasOwn(members[kind], name) ? members[kind][name] : undefined
}

/** Returns the names of the members that hold objects. */
export const memberNames = (kind: Kind): string[] => Object.keys(members[kind])

/** Returns the one of some names that a name differs from in case only; undefined if there is none. */
export function nameInCase(names: string[], name: string): string | undefined {
  const lower = name.toLowerCase()
  return names.find((one) => one !== name && one.toLowerCase() === lower)
}

export type Node = Record<string, unknown>

/** Returns whether a value is a JSON object. */
export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether a member has the shape in which it holds objects. */
export const hasShape = (value: unknown, { shape }: Member): boolean =>
  shape === 'one' || (shape === 'list' ? Array.isArray(value) : isNode(value))

/** Calls `visit` for each value that a member of the right shape holds, with its pointer and its key if it has one. */
export function eachHeld(
  value: unknown,
  member: Member,
  pointer: string,
  visit: (held: unknown, pointer: string, key?: string) => void,
): void {
  if (member.shape === 'one') visit(value, pointer)
  else
    for (const key of Object.keys(value as Node))
      if (!isExtension(member, key)) visit((value as Node)[key], below(pointer, key), key)
}

/** What is called for an object of a document, with its kind, its pointer and the member that holds it. */
type Visit = (node: Node, kind: Kind, pointer: string, member: string) => void

/**
 * Calls `visit` for an object of an OpenAPI document and for each object below it, parents first. A member is a keyword
 * such as `properties` or `not`, never the name of a property. Plain data, such as an example value, is not visited, nor
 * are the objects of the kind `skipped`.
 */
export function walk(node: Node, kind: Kind, pointer: string, visit: Visit, member = '', skipped?: Kind): void {
  visit(node, kind, pointer, member)
  for (const name of Object.keys(node)) {
    const value = node[name]
    const held = typeof value === 'object' && value !== null ? memberOf(kind, name) : undefined
    if (held === undefined || held.kind === skipped || !hasShape(value, held)) continue
    const at = below(pointer, name)
    if (held.shape !== 'one') {
      for (const key of Object.keys(value as Node)) {
        const one = (value as Node)[key]
        if (isNode(one) && !isExtension(held, key)) walk(one, held.kind, below(at, key), visit, name, skipped)
      }
    } else if (isNode(value)) walk(value, held.kind, at, visit, name, skipped)
  }
}

/** Calls `visit` for each object of a document but for its schemas, which are most of them. */
export const walkObjects = (document: object, visit: Visit): void =>
  walk(document as Node, 'document', '#', visit, '', 'schema')

/** Calls `visit` for each schema of a document that is an object, wherever it stands. */
export function walkSchemas(document: object, visit: (schema: Node, pointer: string, member: string) => void): void {
  walk(document as Node, 'document', '#', (node, kind, pointer, member) => {
    if (kind === 'schema') visit(node, pointer, member)
  })
}

/** Returns the kind of the objects at a location of a document; undefined for plain data, and for maps and lists. */
export function kindAt([...keys]: string[]): Kind | undefined {
  let kind: Kind = 'document'
  for (let name = keys.shift(); name !== undefined; name = keys.shift()) {
    const member = memberOf(kind, name)
    if (member === undefined) return undefined
    const key = member.shape === 'one' ? name : keys.shift()
    if (key === undefined || isExtension(member, key)) return undefined
    kind = member.kind
  }
  return kind
}

/** Functions that transform the objects of some kinds; the parts of an object are transformed before it. */
export type Transforms = Partial<Record<Kind, (node: Node) => unknown>>

/**
 * Returns an object of an OpenAPI document in which the objects of some kinds are transformed. What does not change is
 * not copied.
 */
export function mapTree(node: unknown, kind: Kind, transforms: Transforms): unknown {
  if (!isNode(node)) return node
  const mapped = mapEntries(node, function mapHolder(value, name) {
    const member = typeof value === 'object' && value !== null ? memberOf(kind, name) : undefined
    // A schema holds schemas only, and they are most of a document.
    if (member === undefined || (member.kind === 'schema' && transforms.schema === undefined)) return value
    return mapMember(value, member, transforms)
  })
  return transforms[kind] === undefined ? mapped : transforms[kind](mapped)
}

function mapMember(value: unknown, member: Member, transforms: Transforms): unknown {
  const { shape, kind } = member
  if (shape === 'one') return mapTree(value, kind, transforms)
  if (shape === 'list') {
    if (!Array.isArray(value)) return value
    return mapItems(value, (item) => mapTree(item, kind, transforms))
  }
  if (!isNode(value)) return value
  return mapEntries(value, (item, name) => (isExtension(member, name) ? item : mapTree(item, kind, transforms)))
}

/** Maps the items of an array, which is not copied if they stay the same. */
function mapItems(items: unknown[], map: (item: unknown) => unknown): unknown[] {
  let copy: unknown[] | undefined
  for (const [index, item] of items.entries()) {
    const mapped = map(item)
    if (mapped === item) continue
    copy ??= [...items]
    copy[index] = mapped
  }
  return copy ?? items
}

/**
 * Maps the values of an object, which is not copied if they stay the same. The copy has each key of its own before it is
 * assigned to, also a key `__proto__`, so that no assignment sets the prototype.
 */
export function mapEntries(node: Node, map: (value: unknown, name: string) => unknown): Node {
  let copy: Node | undefined
  for (const name of Object.keys(node)) {
    const value = node[name]
    const mapped = map(value, name)
    if (mapped === value) continue
    copy ??= { ...node }
    copy[name] = mapped
  }
  return copy ?? node
}

/** Maps the scalars of a value at any depth. */
export function mapScalars(value: unknown, map: (scalar: unknown) => unknown): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => mapScalars(item, map))
  return isNode(value) ? mapEntries(value, (member) => mapScalars(member, map)) : map(value)
}

/** Maps the values that a member of an object holds by name, if it holds any. What does not change is not copied. */
export function mapHeld(node: Node, member: string, map: (value: unknown, name: string) => unknown): Node {
  const held = node[member]
  if (!isNode(held)) return node
  const mapped = mapEntries(held, map)
  return mapped === held ? node : { ...node, [member]: mapped }
}

/** Returns whether an object has at least one of some members. */
export const hasAny = (node: object, keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(node, key))

/** Returns an object without some members; the object itself if it has none of them. */
export const withoutKeys = (node: Node, keys: string[]): Node =>
  hasAny(node, keys) ? Object.fromEntries(Object.entries(node).filter(([key]) => !keys.includes(key))) : node

/** Returns a copy of a whole document in which some kinds of objects are transformed. */
export const mapDocument = <Document extends object>(document: Document, transforms: Transforms): Document =>
  mapTree(document, 'document', transforms) as Document
