import { type SchemaShape, schemaKeywords } from 'fastify-contract/contract'
import { below, join } from './json-pointer.ts'

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
const holders: Record<Kind, Record<string, Member>> = {
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

const members = Object.fromEntries(
  Object.entries(holders).map(([kind, held]) => [kind, new Map(Object.entries(held))]),
) as Record<Kind, Map<string, Member>>

/** Returns whether a key of a map is an extension; x-world/x-vrml is a media type. */
export const isExtension = ({ shape, kind }: Member, key: string): boolean =>
  shape === 'patterned' && key.startsWith('x-') && (kind !== 'mediaType' || !key.includes('/'))

/** Returns what kind of objects a member holds, and how; undefined for plain data. */
export function memberOf(kind: Kind, name: string): Member | undefined {
  // Each member of a callback is an expression, whose value is a path item (section 4.8.18).
  if (kind === 'callback') return name.startsWith('x-') || name === '$ref' ? undefined : one('pathItem')
  return members[kind].get(name)
}

/** Returns the names of the members that hold objects. */
export const memberNames = (kind: Kind): string[] => [...members[kind].keys()]

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

/**
 * Returns the pointer of an object that is visited, or of what some keys lead to below it, until the visit ends. Most
 * objects are visited without a use of their pointers.
 */
export type At = (...keys: string[]) => string

/** What is called for an object of a document, with its kind, its pointer, and the member that holds it. */
type Visit = (node: Node, kind: Kind, at: At, member: string) => void

/**
 * Calls `visit` for an object of an OpenAPI document and for each object below it, parents first. A member is a keyword
 * such as `properties` or `not`, never the name of a property. Plain data, such as an example value, is not visited, nor
 * are the objects of the kind `skipped`.
 */
export function walk(node: Node, kind: Kind, pointer: string, visit: Visit, skipped?: Kind): void {
  const path: string[] = []
  const at: At = (...keys) => join(pointer, ...path, ...keys)
  descend(node, kind, '')

  function descend(node: Node, kind: Kind, member: string): void {
    visit(node, kind, at, member)
    for (const name in node) {
      const value = node[name]
      const held = typeof value === 'object' && value !== null ? memberOf(kind, name) : undefined
      if (held === undefined || held.kind === skipped || !hasShape(value, held)) continue
      path.push(name)
      if (held.shape === 'one') {
        if (isNode(value)) descend(value, held.kind, name)
      } else descendInto(value as Node, held, name)
      path.pop()
    }
  }

  function descendInto(holder: Node, held: Member, name: string): void {
    for (const key in holder) {
      const one = holder[key]
      if (!isNode(one) || isExtension(held, key)) continue
      path.push(key)
      descend(one, held.kind, name)
      path.pop()
    }
  }
}

/** Calls `visit` for each object of a document but for its schemas, which are most of them. */
export const walkObjects = (document: object, visit: Visit): void =>
  walk(document as Node, 'document', '#', visit, 'schema')

/** Calls `visit` for each schema of a document that is an object, wherever it stands. */
export function walkSchemas(document: object, visit: (schema: Node, at: At, member: string) => void): void {
  walk(document as Node, 'document', '#', (node, kind, at, member) => {
    if (kind === 'schema') visit(node, at, member)
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

/**
 * Functions that transform the objects of some kinds; the parts of an object are transformed before it. `given` is the
 * object before that.
 */
export type Transforms = Partial<Record<Kind, (node: Node, given: Node) => unknown>>

/** The kinds of the objects at and below an object of each kind. */
const kindsBelow = Object.fromEntries(
  Object.keys(members).map(function collectKinds(kind) {
    const below = new Set([kind as Kind])
    // Iteration over a Set includes the elements that are added meanwhile.
    for (const each of below)
      for (const member of each === 'callback' ? [one('pathItem')] : members[each].values()) below.add(member.kind)
    return [kind, below]
  }),
) as Record<Kind, Set<Kind>>

function hasTransforms(kind: Kind, transforms: Transforms): boolean {
  for (const transformed in transforms) if (kindsBelow[kind].has(transformed as Kind)) return true
  return false
}

/**
 * Returns an object of an OpenAPI document in which the objects of some kinds are transformed. What does not change is
 * not copied.
 */
export function mapTree(node: unknown, kind: Kind, transforms: Transforms): unknown {
  if (!isNode(node)) return node
  let copy: Node | undefined
  for (const name in node) {
    const value = node[name]
    const member = typeof value === 'object' && value !== null ? memberOf(kind, name) : undefined
    if (member === undefined || !hasTransforms(member.kind, transforms)) continue
    const mapped = mapMember(value as object, member, transforms)
    if (mapped === value) continue
    copy ??= { ...node }
    copy[name] = mapped
  }
  return transforms[kind] === undefined ? (copy ?? node) : transforms[kind](copy ?? node, node)
}

function mapMember(value: object, member: Member, transforms: Transforms): unknown {
  if (member.shape === 'one') return mapTree(value, member.kind, transforms)
  if (Array.isArray(value) !== (member.shape === 'list')) return value
  let copy: Node | undefined
  for (const key in value) {
    const given = (value as Node)[key]
    const mapped = isExtension(member, key) ? given : mapTree(given, member.kind, transforms)
    if (mapped === given) continue
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Node
    copy[key] = mapped
  }
  return copy ?? value
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
