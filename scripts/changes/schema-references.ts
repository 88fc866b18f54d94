import { schemaKeywords } from '../../src/openapi/schema-keywords.ts'
import { join, keysOf, resolve } from '../generate/json-pointer.ts'
import { isNode, type Node } from '../generate/walk-document.ts'

/** Returns the pointer of a $ref in the form in which pointers are compared. */
export const targetOf = ($ref: string): string => join('#', ...keysOf($ref))

export const isReferring = (schema: unknown): schema is { $ref: string } =>
  isNode(schema) && typeof schema.$ref === 'string'
export const isReference = (schema: Node) => isReferring(schema) && Object.keys(schema).length === 1

/** Returns whether no schema stands in a schema, and it refers to none. */
export const isLeaf = (schema: Node): boolean =>
  !Object.keys(schema).some((keyword) => keyword === '$ref' || Object.hasOwn(schemaKeywords, keyword))

/** Returns the $ref of a schema or of a member of its allOf; undefined where there are several. */
export function onlyReference(schema: unknown): string | undefined {
  if (!isNode(schema)) return undefined
  const { allOf = [] } = schema
  const [{ $ref } = {}, second] = [schema, allOf].flat().filter(isReferring)
  return second === undefined ? $ref : undefined
}

/**
 * Returns where the $ref of a schema leads that has one, or that wraps one in an allOf, and no other; undefined where such
 * schemas lead to each other.
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

/** Returns the pointers of all that holds what is at a pointer. */
export const pointersAbove = (pointer: string): string[] => {
  const keys = pointer.split('/')
  return keys.slice(1).map((_, index) => keys.slice(0, index + 1).join('/'))
}

/** Returns the pointer of what stands at a pointer that may lead through a $ref. */
export function standingAt(document: object, pointer: string): string {
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

/** References that lead to each other lead nowhere. */
const maximumHops = 100
