import { type SchemaShape, schemaKeywords } from '../../serve/schema-keywords.ts'
import { join } from './json-pointer.ts'

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
const ofHeader = { schema: one('schema'), content: map('mediaType'), examples: map('example') }

/** The members of each kind that hold further objects; every other member is plain data. */
const members: Record<Kind, Record<string, Member>> = {
  document: { paths: patterned('pathItem'), webhooks: map('pathItem'), components: one('components') },
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
    callbacks: map('callback'),
  },
  parameter: ofHeader,
  header: ofHeader,
  requestBody: { content: map('mediaType') },
  response: { headers: map('header'), content: map('mediaType') },
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

/** Returns what kind of objects a member holds, and how; undefined for plain data. */
export function memberOf(kind: Kind, name: string): Member | undefined {
  // Each member of a callback is an expression, whose value is a path item (section 4.8.18).
  if (kind === 'callback') return name.startsWith('x-') || name === '$ref' ? undefined : one('pathItem')
  return Object.hasOwn(members[kind], name) ? members[kind][name] : undefined
}

export type Node = Record<string, unknown>

/** Returns whether a value is a JSON object. */
export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the objects that a member holds, each with the keys that lead to it. */
function held(value: unknown, { shape }: Member): [keys: string[], held: unknown][] {
  if (shape === 'one') return [[[], value]]
  const entries = shape === 'list' ? Array.isArray(value) : isNode(value)
  if (!entries) return []
  return Object.entries(value as Node).flatMap(([key, below]) =>
    shape === 'patterned' && key.startsWith('x-') ? [] : [[[key], below]],
  )
}

/**
 * Calls `visit` for an object of an OpenAPI document and for each object below it, parents first, with its kind, its
 * pointer and the members that lead to it. A member is a keyword such as `properties` or `not`, never the name of a
 * property. Plain data, such as an example value, is not visited.
 */
export function walk(
  node: Node,
  kind: Kind,
  pointer: string,
  visit: (node: Node, kind: Kind, pointer: string, members: string[]) => void,
  members: string[] = [],
): void {
  visit(node, kind, pointer, members)
  for (const [name, value] of Object.entries(node)) {
    const member = memberOf(kind, name)
    if (member === undefined) continue
    for (const [keys, below] of held(value, member)) {
      if (isNode(below)) walk(below, member.kind, join(pointer, name, ...keys), visit, [...members, name])
    }
  }
}

/** Calls `visit` for each schema of a document that is an object, wherever it stands. */
export function walkSchemas(document: object, visit: (schema: Node, pointer: string, members: string[]) => void): void {
  walk(document as Node, 'document', '#', (node, kind, pointer, members) => {
    if (kind === 'schema') visit(node, pointer, members)
  })
}

/** Returns the pointers to the schemas of a document, objects and booleans. */
export function schemaPointers(document: object): Set<string> {
  const pointers = new Set<string>()
  walk(document as Node, 'document', '#', (node, kind, pointer) => {
    for (const [name, value] of Object.entries(node)) {
      const member = memberOf(kind, name)
      if (member?.kind !== 'schema') continue
      for (const [keys, below] of held(value, member)) {
        if (isNode(below) || typeof below === 'boolean') pointers.add(join(pointer, name, ...keys))
      }
    }
  })
  return pointers
}

/** Functions that transform the objects of some kinds; the parts of an object are transformed before it. */
export type Transforms = Partial<Record<Kind, (node: Node) => unknown>>

/**
 * Returns an object of an OpenAPI document in which the objects of some kinds are transformed. What does not change is
 * not copied.
 */
export function mapTree(node: unknown, kind: Kind, transforms: Transforms): unknown {
  if (!isNode(node)) return node
  const mapped = mapEntries(node, (value, name) => {
    const member = memberOf(kind, name)
    return member === undefined ? value : mapMember(value, member, transforms)
  })
  return transforms[kind] === undefined ? mapped : transforms[kind](mapped)
}

function mapMember(value: unknown, { shape, kind }: Member, transforms: Transforms): unknown {
  if (shape === 'one') return mapTree(value, kind, transforms)
  if (shape === 'list') {
    if (!Array.isArray(value)) return value
    const items = value.map((item) => mapTree(item, kind, transforms))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isNode(value)) return value
  return mapEntries(value, (item, name) =>
    shape === 'patterned' && name.startsWith('x-') ? item : mapTree(item, kind, transforms),
  )
}

/**
 * Maps the values of an object, which is not copied if they stay the same. Object.fromEntries keeps a key `__proto__`;
 * an assignment would set the prototype.
 */
export function mapEntries(node: Node, map: (value: unknown, name: string) => unknown): Node {
  const entries = Object.entries(node).map(([name, value]) => [name, map(value, name), value] as const)
  return entries.some(([, mapped, value]) => mapped !== value) ? Object.fromEntries(entries) : node
}

/** Returns a copy of a whole document in which some kinds of objects are transformed. */
export const mapDocument = <Document extends object>(document: Document, transforms: Transforms): Document =>
  mapTree(document, 'document', transforms) as Document
