import { withItemSchemas } from './contents.ts'
import { withDirections } from './directions.ts'
import { withDiscriminators } from './discriminators.ts'
import { join, keysOf, resolve } from './json-pointer.ts'
import { type Document, endpoints, itemAt } from './openapi-document.ts'
import { asOpenApi31 } from './openapi-versions.ts'
import { withSharedSchemas } from './shared-schemas.ts'
import { isNode, mapEntries, type Node } from './walk-document.ts'

/**
 * Returns a bundled document as OpenAPI 3.1, and also with its discriminators as schemas. Both keep the places of the
 * document, so that problems are reported with them.
 */
export function upgrade(document: Document): { upgraded: Document; discriminated: Document } {
  const upgraded = asOpenApi31(document)
  return { upgraded, discriminated: withDiscriminators(upgraded) }
}

/**
 * Returns a document with discriminators as schemas in the form that the generators expect: an operationId for each
 * operation, references by name, and separate schemas for requests and responses where these differ.
 */
export const normalize = (discriminated: Document): Document =>
  withDirections(withSharedSchemas(withItemSchemas(withOperationIds(discriminated))))

/** Returns a published document in the form of `normalize`. */
export const normalizedDocument = (document: Document): Document => normalize(upgrade(document).discriminated)

/**
 * Returns a document in which each served operation has the operationId that `endpoints` returns. A path item behind a
 * $ref is copied to its path, since a derived operationId contains the path.
 */
function withOperationIds(document: Document): Document {
  const missing = endpoints(document).filter(({ hasDerivedId }) => hasDerivedId)
  if (missing.length === 0) return document
  const paths: Record<string, object> = { ...document.paths }
  for (const { path, keys, operationId } of missing) {
    const { pointer: _, ...item } = itemAt(document, path) as Node
    const { $ref: __, ...own } = paths[path] as Node
    paths[path] = withId({ ...item, ...own }, keys, operationId)
  }
  return { ...document, paths }
}

/** Returns a copy of an object in which the operation at these keys has an operationId. */
function withId(node: Node, [key, ...below]: string[], operationId: string): Node {
  if (key === undefined) return { ...node, operationId }
  return { ...node, [key]: withId(node[key] as Node, below, operationId) }
}

/**
 * Returns the part of a document that can be normalized in spite of some problems: the operations that hold no place of
 * a problem and refer to none, and the components that these operations refer to.
 */
export function soundPart(document: Document, problems: string[]): Document {
  const places = problems.map(placeOf)
  const isWithin = (pointer: string, other: string) => pointer === other || pointer.startsWith(`${other}/`)
  const isSound = (pointer: string) => !places.some((place) => isWithin(pointer, place) || isWithin(place, pointer))
  const targetsOf = targetFinder(document)
  const paths: Record<string, Node> = {}
  const kept = new Set<string>()
  for (const { path, keys, pointer, parameters } of endpoints(document)) {
    const { pointer: _, ...item } = itemAt(document, path)
    const roots = [pointer, ...parameters.map((parameter) => parameter.pointer)]
    const targets = targetsOf(roots)
    const isKept =
      !places.includes(join('#', 'paths', path)) &&
      targets.every((target) => target.startsWith('#/components/')) &&
      [...roots, ...targets].every(isSound)
    paths[path] = isKept ? (paths[path] ?? item) : without(paths[path] ?? item, keys)
    if (isKept) for (const each of [...roots, ...targets]) kept.add(join('#', ...keysOf(each).slice(0, 3)))
  }
  const components = mapEntries((document.components ?? {}) as Node, (held, kind) => {
    if (kind === 'securitySchemes' || !isNode(held)) return held
    return Object.fromEntries(Object.entries(held).filter(([name]) => kept.has(join('#', 'components', kind, name))))
  })
  const { webhooks: _, ...others } = document as Document & { webhooks?: unknown }
  return { ...others, paths, components }
}

/** Returns the place of a problem, which precedes its text. */
export const placeOf = (problem: string): string => problem.slice(0, problem.indexOf(': '))

function without(node: Node, [key = '', ...below]: string[]): Node {
  const { [key]: value, ...others } = node
  return below.length === 0 ? others : { ...others, [key]: without(value as Node, below) }
}

/** Returns a function that finds the targets of all references below some places, also behind other references. */
function targetFinder(document: Document): (pointers: string[]) => string[] {
  const known = new Map<string, string[]>()
  return (pointers) => {
    const targets = new Set(pointers)
    // Iteration over a Set includes the elements that are added meanwhile.
    for (const pointer of targets) {
      const below = known.get(pointer) ?? referencesIn(resolve(document, pointer))
      known.set(pointer, below)
      for (const target of below) targets.add(target)
    }
    return [...targets].slice(pointers.length)
  }
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref } = value as Node
  const own = typeof $ref === 'string' ? [join('#', ...keysOf($ref))] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}
