import { join, keysOf, resolve } from '../compile/document/json-pointer.ts'
import { isNode, type Node } from '../compile/document/walk-document.ts'
import { schemaKeywords } from '../serve/schema-keywords.ts'

/** Returns the target pointer of a $ref in normalized form. */
export const targetOf = ($ref: string): string => join('#', ...keysOf($ref))

/** Returns whether a value is a schema with a $ref. */
export const isReferring = (schema: unknown): schema is { $ref: string } =>
  isNode(schema) && typeof schema.$ref === 'string'

/** Returns whether a schema is a $ref without siblings. */
export const isReference = (schema: Node) => isReferring(schema) && Object.keys(schema).length === 1

/** Returns whether a schema has neither subschemas nor a $ref. */
export const isLeaf = (schema: Node): boolean =>
  !Object.keys(schema).some((keyword) => keyword === '$ref' || Object.hasOwn(schemaKeywords, keyword))

/** Returns the $ref of a schema or of a member of its allOf, or undefined if there are several. */
export function onlyReference(schema: unknown): string | undefined {
  if (!isNode(schema)) return undefined
  const { allOf = [] } = schema
  const [{ $ref } = {}, second] = [schema, allOf].flat().filter(isReferring)
  return second === undefined ? $ref : undefined
}

/**
 * Returns the $ref of a schema that has one, or that only wraps one in an allOf. Returns undefined for other schemas
 * and for circular references.
 */
export function wrappedTarget(document: object, schema: Node): string | undefined {
  const target = wrapped(schema)
  const seen = new Set<string>()
  for (let next = target; next !== undefined; next = wrapped(resolve(document, targetOf(next)))) {
    if (seen.has(next)) return undefined
    seen.add(next)
  }
  return target
}

function wrapped(schema: unknown): string | undefined {
  if (!isNode(schema)) return undefined
  const { $ref, allOf } = schema
  if (allOf === undefined) return typeof $ref === 'string' ? $ref : undefined
  const [only, second] = Array.isArray(allOf) ? allOf : []
  const isWrapper = $ref === undefined && second === undefined && isNode(only) && Object.keys(only).length === 1
  return isWrapper ? wrapped(only) : undefined
}

/** Returns the pointers of all ancestors of a pointer. */
export const pointersAbove = (pointer: string): string[] => {
  const keys = pointer.split('/')
  return keys.slice(1).map((_, index) => keys.slice(0, index + 1).join('/'))
}

/** Returns the pointer that a pointer resolves to after following each $ref along its path. */
export function resolvedPointer(document: object, pointer: string): string {
  let place = '#'
  for (const key of keysOf(pointer)) {
    for (let hops = 0, node = resolve(document, place); isReferring(node) && hops < maximumHops; hops++) {
      if (Object.hasOwn(node, key)) break
      place = targetOf(node.$ref)
      node = resolve(document, place)
    }
    place = join(place, key)
  }
  return place
}

/** The maximum number of references to follow in a row, which ends circular references. */
const maximumHops = 100
