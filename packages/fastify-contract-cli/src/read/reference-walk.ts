import { join } from '../document/json-pointer.ts'
import {
  hasShape,
  isExtension,
  isNode,
  type Kind,
  type Member,
  memberNames,
  memberOf,
  type Node,
  nameInCase,
} from '../document/walk-document.ts'

/**
 * What stands at a location: OpenAPI objects, `other` parts of a document, in which a $ref is a reference too, or plain
 * data, in which a $ref is a member like any other.
 */
export type Expected = Member | 'other' | 'data'

/** A schema that $id gives a URI of its own, or the root of its file: what a fragment is relative to. */
export type Resource = { uri: string; pointer: string }

/** What is called for each location that a walk finds. A pointer leads to a member, such as `$ref`. */
export type ReferenceVisitor = {
  /** A reference, with what its target must be. */
  reference(found: Reference): void
  /** The externalValue of an example. */
  external(pointer: string, uri: string): void
  /** A `$ref` or `externalValue` that is plain data. */
  data(pointer: string): void
  /** A schema, with the resource that it belongs to. */
  schema(schema: Node, pointer: string, resource: Resource): void
}

/** A reference. A value of a mapping may be the name of a schema instead. */
export type Reference = { pointer: string; text: string; expected: Expected; resource: Resource; isMapping: boolean }

/** The members whose values are plain data, in each object that is not a schema. */
const dataMembers = new Set(
  'example default enum const value dataValue serializedValue scopes mapping'.split(' ').concat(
    // Of a link (section 4.8.20), whose values are constants or expressions.
    ['parameters', 'requestBody'],
  ),
)

/** The members of a schema besides schemas that are not plain data. */
const schemaObjects = new Set(['discriminator', 'externalDocs', 'xml'])

/** The members that Redocly follows wherever they stand. */
export const followed = ['$ref', 'externalValue']

/** Path items that OpenAPI 3.0 has no place for; Redocly shows them as webhooks. */
const extensionWebhooks: Member = { shape: 'map', kind: 'pathItem' }

/** Returns what stands at a location of a document. */
export function expectedAt(keys: string[]): Expected {
  let found: Member = { shape: 'one', kind: 'document' }
  for (const key of keys) {
    if (found.shape !== 'one') {
      if (isExtension(found, key)) return 'data'
      found = { shape: 'one', kind: found.kind }
      continue
    }
    const member = memberOf(found.kind, key)
    if (member === undefined) return otherMember(found.kind, key)
    found = member
  }
  return found
}

/** Walks a value of a document, and calls the visitor for each reference, and for each member that looks like one. */
export function walkReferences(
  value: unknown,
  expected: Expected,
  pointer: string,
  resource: Resource,
  visitor: ReferenceVisitor,
): void {
  if (typeof value !== 'object' || value === null) return
  if (expected === 'data') walkData(value as Node, pointer, visitor)
  else if (expected !== 'other' && expected.shape === 'one') walkObject(value, expected, pointer, resource, visitor)
  else walkHolder(value as Node, expected, pointer, resource, visitor)
}

function walkData(value: Node, pointer: string, visitor: ReferenceVisitor): void {
  for (const [name, each] of Object.entries(value)) {
    if (typeof each === 'string' && followed.includes(name)) visitor.data(join(pointer, name))
    if (typeof each === 'object' && each !== null) walkData(each as Node, join(pointer, name), visitor)
  }
}

function walkObject(node: object, expected: Member, pointer: string, given: Resource, visitor: ReferenceVisitor): void {
  if (!isNode(node)) return
  const { kind } = expected
  const isSchema = kind === 'schema'
  const resource = isSchema ? resourceOf(node, pointer, given) : given
  if (isSchema) visitor.schema(node, pointer, resource)
  for (const name of Object.keys(node)) {
    const value = node[name]
    if (typeof value !== 'object' && name !== '$dynamicRef' && !followed.includes(name)) continue
    const at = join(pointer, name)
    if ((name === '$ref' || (isSchema && name === '$dynamicRef')) && typeof value === 'string') {
      visitor.reference({ pointer: at, text: value, expected, resource, isMapping: false })
    } else if (name === 'externalValue' && typeof value === 'string') {
      if (kind === 'example') visitor.external(at, value)
      else visitor.data(at)
    } else {
      const member = isSchema ? schemaMember(name, value) : heldBy(kind, name)
      if (member !== undefined) {
        // A list or map of another shape is a mistake, which the rules report.
        walkReferences(value, hasShape(value, member) ? member : 'other', at, resource, visitor)
      } else if (isSchema && name === 'discriminator') walkDiscriminator(value, at, resource, visitor)
      else walkReferences(value, otherMember(kind, name), at, resource, visitor)
    }
  }
}

/** Returns what a keyword holds, also in JSON Schema before 2020-12, where `items` may be a list. */
function schemaMember(name: string, value: unknown): Member | undefined {
  if (name === 'items' && Array.isArray(value)) return { shape: 'list', kind: 'schema' }
  return name === 'additionalItems' ? { shape: 'one', kind: 'schema' } : heldBy('schema', name)
}

/** Returns what a member holds. Its name may be in another case, which the passes of lenient/ correct. */
const heldBy = (kind: Kind, name: string): Member | undefined =>
  memberOf(kind, name) ?? memberOf(kind, nameInCase(memberNames(kind), name) ?? name)

/** Returns what a member holds that holds no objects of a kind. */
function otherMember(kind: Member['kind'], name: string): Expected {
  if (kind === 'document' && name === 'x-webhooks') return extensionWebhooks
  if (name.startsWith('x-') || dataMembers.has(name)) return 'data'
  return kind === 'schema' && !schemaObjects.has(name) ? 'data' : 'other'
}

/** Walks a map or a list of objects, or another part of a document. */
function walkHolder(
  node: Node,
  expected: Member | 'other',
  pointer: string,
  resource: Resource,
  visitor: ReferenceVisitor,
): void {
  const { $ref } = node
  // Documents in several files often refer to a file for a whole map, such as that of the paths.
  if (typeof $ref === 'string')
    visitor.reference({ pointer: join(pointer, '$ref'), text: $ref, expected, resource, isMapping: false })
  if (expected === 'other') {
    for (const [name, value] of Object.entries(node)) {
      const expected = name.startsWith('x-') || dataMembers.has(name) ? 'data' : 'other'
      if (name === 'externalValue' && typeof value === 'string') visitor.data(join(pointer, name))
      else if (typeof value === 'object') walkReferences(value, expected, join(pointer, name), resource, visitor)
    }
    return
  }
  const one: Member = { shape: 'one', kind: expected.kind }
  for (const name of Object.keys(node))
    walkReferences(node[name], isExtension(expected, name) ? 'data' : one, join(pointer, name), resource, visitor)
}

/** Walks a discriminator, whose mapping holds names or URI references (OpenAPI 3.1 section 4.8.25). */
function walkDiscriminator(value: unknown, pointer: string, resource: Resource, visitor: ReferenceVisitor): void {
  walkReferences(value, 'other', pointer, resource, visitor)
  const { mapping, defaultMapping } = Object(value) as Node
  const expected: Member = { shape: 'one', kind: 'schema' }
  const refer = (text: unknown, at: string) => {
    if (typeof text === 'string') visitor.reference({ pointer: at, text, expected, resource, isMapping: true })
  }
  refer(defaultMapping, join(pointer, 'defaultMapping'))
  for (const [name, text] of isNode(mapping) ? Object.entries(mapping) : [])
    if (name !== '$ref') refer(text, join(pointer, 'mapping', name))
}

/** Returns the resource of a schema: its own if it has a $id (JSON Schema 2020-12, core, section 8.2.1). */
function resourceOf(schema: Node, pointer: string, given: Resource): Resource {
  const id = idOf(schema)
  const uri = id === undefined ? undefined : resolvedUri(id, given.uri)
  return uri === undefined ? given : { uri, pointer }
}

/** Returns the identifier of a schema, which was `id` in draft 4. */
export function idOf({ $id, id, $schema }: Node): string | undefined {
  if (typeof $id === 'string') return $id
  return typeof id === 'string' && /\/draft-04\//.test(String($schema)) ? id : undefined
}

/** Returns a URI reference resolved against a base URI, without an empty fragment; undefined if it is invalid. */
export function resolvedUri(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, '') : undefined
}
