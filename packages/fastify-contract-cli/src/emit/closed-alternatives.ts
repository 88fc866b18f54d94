import { isNode } from '../document/walk-document.ts'

/** The maximum number of members that all alternatives together forbid, so that the types stay small. */
const maxForbidden = 64

/**
 * Returns the alternatives of an anyOf or oneOf, of which each closed object forbids the members of the others: the
 * compiler would accept an object with the members of two of them, which no alternative allows.
 */
export function withoutMixture(alternatives: unknown, resolve: ($ref: string) => unknown): unknown {
  if (!Array.isArray(alternatives)) return alternatives
  const closed = alternatives.map((one) => closedNames(one, resolve))
  const all = [...new Set(closed.flatMap((names) => names ?? []))]
  const forbidden = closed.map((own) => (own === undefined ? [] : all.filter((name) => !own.includes(name))))
  const count = forbidden.flat().length
  if (count === 0 || count > maxForbidden) return alternatives
  return alternatives.map((one, index) => {
    const names = forbidden[index] as string[]
    if (names.length === 0) return one
    const properties = Object.fromEntries(names.map((name) => [name, false]))
    return { allOf: [one, { type: 'object', properties }] }
  })
}

/** Returns the names of the members that a closed object may have; undefined for any other schema. */
function closedNames(schema: unknown, resolve: ($ref: string) => unknown): string[] | undefined {
  if (!isNode(schema)) return undefined
  if (typeof schema.$ref === 'string' && Object.keys(schema).length === 1) {
    const target = resolve(schema.$ref)
    return isNode(target) && target.$ref === undefined ? closedNames(target, resolve) : undefined
  }
  const { type, properties, patternProperties, allOf, anyOf, oneOf, $ref } = schema
  const isClosed = schema.additionalProperties === false || schema.unevaluatedProperties === false
  const isComposed = [patternProperties, allOf, anyOf, oneOf, $ref].some((keyword) => keyword !== undefined)
  return type === 'object' && isClosed && !isComposed ? Object.keys(Object(properties)) : undefined
}
