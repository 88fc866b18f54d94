import type { Int64Replies, ReplyPlace } from '../../src/client/exact-reply.ts'
import { inPlaceKeywords, type Schema, schemasIn } from '../../src/openapi/schema-keywords.ts'
import { holdsInt64, isInt64 } from './inexact-integers.ts'
import { type Document, endpoints, type MediaTypes } from './openapi-document.ts'
import { describing } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/**
 * Returns the places of the int64s in the JSON replies of a document, which is all that its client must know, and one
 * line for each place where a number is an int64 in one schema and another number in another: no client could tell them
 * apart.
 */
export function int64Replies(document: Document): { table: Int64Replies; problems: string[] } {
  const table: Int64Replies = { places: [], replies: {} }
  const problems: string[] = []
  const indexes = new Map<string, number>()
  const identities = new Map<Node, number>()
  for (const { method, path, responses } of endpoints(document)) {
    const reply = `${method} ${path}`
    const roots = Object.entries(responses).map(
      ([status, { content = {} }]) => [status, placeOf(jsonSchemas(content), `${reply} ${status}`)] as const,
    )
    if (roots.some(([, root]) => root !== null)) table.replies[reply] = Object.fromEntries(roots)
  }
  return { table, problems }

  /** Returns the index of the place that these schemas describe together, null when it holds no int64. */
  function placeOf(holders: unknown[], name: string): number | null {
    const schemas = describing(document, holders, branches)
    if (!schemas.some((schema) => holdsInt64(schema, document))) return null
    // A schema may hold itself: the same schemas are the same place.
    const key = schemas.map(identity).join()
    const known = indexes.get(key)
    if (known !== undefined) return known
    const place: ReplyPlace = {}
    const index = table.places.push(place) - 1
    indexes.set(key, index)
    if (schemas.some(isInt64)) {
      place.int64 = true
      if (schemas.some(isOtherNumber)) problems.push(`${name}: a number is an int64 in one schema and not in another`)
    }
    const names = new Set(schemas.flatMap((schema) => Object.keys(named(schema))))
    const members = Array.from(names, (member) => {
      const below = schemas.flatMap((schema) => memberSchemas(schema, member))
      return [member, placeOf(below, `${name}/${member}`)] as const
    })
    const others = placeOf(
      schemas.flatMap((schema) => unnamed(schema)),
      `${name}/*`,
    )
    // Where the others hold none, a member without one need not be told from them.
    const told = members.filter(([, below]) => below !== null || others !== null)
    if (told.length > 0) place.members = Object.fromEntries(told)
    if (others !== null) place.others = others
    return index
  }

  function identity(schema: Node): number {
    if (!identities.has(schema)) identities.set(schema, identities.size)
    return identities.get(schema) as number
  }
}

const jsonSchemas = (content: MediaTypes): unknown[] =>
  Object.entries(content).flatMap(([type, { schema }]) => (/[/+]json\b/.test(type) ? [schema] : []))

/** What a schema says of the members and items that it names: JSON has no value with both. */
const named = ({ properties, prefixItems }: Node): Record<string, Schema> => ({
  ...(properties as object),
  ...(prefixItems as object),
})

/** Returns what a schema says of a member or an item, which need not be one that it names. */
export const memberSchemas = (schema: Node, member: string): Schema[] =>
  Object.hasOwn(named(schema), member) ? [named(schema)[member] as Schema] : unnamed(schema, member)

/** Keywords whose schemas describe the same value. Not `if`: a condition only tests a value. */
export const branches = inPlaceKeywords.filter((keyword) => keyword !== 'if')

const others = ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems']

/** What it says of all the others, or of the one of this name. */
function unnamed(schema: Node, name?: string): Schema[] {
  const patterns = Object.entries((schema.patternProperties ?? {}) as Record<string, Schema>)
  const matching = patterns.filter(([pattern]) => name === undefined || new RegExp(pattern, 'u').test(name))
  return [...matching.map(([, below]) => below), ...others.flatMap((keyword) => schemasIn(schema, keyword))]
}

const isOtherNumber = (schema: Node): boolean =>
  !isInt64(schema) && [schema.type].flat().some((type) => type === 'integer' || type === 'number')
