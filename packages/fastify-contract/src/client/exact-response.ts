import { exactInteger } from '../json/exact-integer.ts'
import { inexactNumber } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'

/**
 * One place in a response body, as the schemas of a document describe it. Nested places are indexes into the list of
 * places.
 */
export type ResponseSchemaNode = {
  /** Whether a number here is an int64. */
  int64?: boolean
  /** Nested places by member name or item index; null where there is no int64. */
  members?: Record<string, number | null>
  /** The place of all other members and items. */
  others?: number
}

/**
 * The responses of a document that contain an int64. `replies` has the index of the root place, by operation (method
 * and path) and by status; null where there is no int64.
 */
export type Int64Responses = {
  places: ResponseSchemaNode[]
  replies: Record<string, Record<string, number | null>>
}

/**
 * Returns the root place of a response body, or undefined when it has no int64. An exact status precedes its range, and
 * a range precedes `default`.
 */
export function responseSchemaNode(
  { places, replies }: Int64Responses,
  operation: string,
  status: number,
): ResponseSchemaNode | undefined {
  const byStatus = replies[operation] ?? {}
  const key = [String(status), `${Math.trunc(status / 100)}XX`, 'default'].find((key) => Object.hasOwn(byStatus, key))
  return places[byStatus[key as string] ?? -1]
}

/**
 * Parses the JSON text of a response and converts every int64 at its `places` to a bigint. Nothing is validated: a
 * value that is not an integer stays unchanged. Throws when the text is not I-JSON (RFC 7493).
 */
export function exactResponse(text: string, { places }: Int64Responses, root: ResponseSchemaNode): unknown {
  const document = parseJson(text)
  convert(document as Holder, 'value', root)
  return document.value

  function convert(holder: Holder, key: string | number, { int64, members = {}, others }: ResponseSchemaNode): void {
    const value = holder[key]
    if (int64 && typeof value === 'number') holder[key] = bigint(value, inexactNumber(document, holder, key)) ?? value
    if (typeof value !== 'object' || value === null) return
    for (const below of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      const place = places[(Object.hasOwn(members, below) ? members[below] : others) ?? -1]
      if (place !== undefined) convert(value as Holder, below, place)
    }
  }
}

type Holder = Record<string | number, unknown>

function bigint(value: number, digits: string | undefined): bigint | undefined {
  if (digits !== undefined) return exactInteger(digits)
  return Number.isInteger(value) ? BigInt(value) : undefined
}
