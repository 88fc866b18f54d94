import { isRoundedInteger } from '../json/decimal.ts'
import { exactInteger, exactNumberOf, type JsonDocument, roundedInteger } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'

/**
 * The schemas of one location in a response body. The schemas below are indexes into the list of nodes; null where
 * there is no int64.
 */
export type ResponseSchemaNode = {
  /** Whether a number here is an int64. */
  int64?: boolean
  /** By member name or item index. */
  members?: Record<string, number | null>
  /** The node of all other members and items. */
  others?: number
}

/**
 * The responses of a document that contain an int64. `responses` has the index of the root node, by operation (method
 * and path) and by status; null where there is no int64.
 */
export type Int64Responses = {
  nodes: ResponseSchemaNode[]
  responses: Record<string, ByStatus<number | null>>
}

/** Matches each text with a number of 16 digits or a large exponent: a double holds 15 digits. */
const mayBeRounded = /[\d.]{16}|\d[eE]\+?\d{3}/

/** Replaces the integers that were rounded. Returns the JSON pointer to one that cannot be. */
function keepIntegers(document: JsonDocument): string | undefined {
  for (const [holder, members] of document.exactNumbers ?? []) {
    for (const [key, exact] of members) {
      const isRounded = typeof exact === 'string' && isRoundedInteger(exact)
      const integer = isRounded ? exactInteger(exact) : undefined
      if (integer !== undefined) (holder as Record<string | number, unknown>)[key] = integer
    }
  }
  return roundedInteger(document, true, () => true)
}

/** The roots of the JSON bodies or of the items of an operation, by status; null where there is no int64. */
type ByStatus<Root> = Record<string, Root>

/** Returns what a document says of a status: an exact status precedes its range, and a range precedes `default`. */
export function ofStatus<Root>(byStatus: ByStatus<Root> | undefined, status: number): Root | undefined {
  const keys = [String(status), `${Math.trunc(status / 100)}XX`, 'default']
  const key = keys.find((key) => byStatus !== undefined && Object.hasOwn(byStatus, key))
  return byStatus?.[key as string]
}

/**
 * Parses a JSON text of a response and converts every int64 to a bigint; `root` is the node of its schema. Any other
 * integer of at most 20 digits is a bigint only if a double would round it. Nothing is validated: a value that is not an
 * integer stays unchanged. Throws when a text with an int64 or such an integer is not I-JSON (RFC 7493), and for an
 * integer of more digits.
 */
export function parseExact(text: string, nodes: ResponseSchemaNode[], root: ResponseSchemaNode | undefined): unknown {
  if (root === undefined && !mayBeRounded.test(text)) return JSON.parse(text)
  const document = parseJson(text)
  if (root !== undefined) convert(document, 'value', root)
  const rounded = keepIntegers(document)
  if (rounded !== undefined)
    throw new RangeError(`the response has a number that cannot be exact, at ${rounded || '/'}`)
  return document.value

  function convert(holder: object, key: string | number, { int64, members = {}, others }: ResponseSchemaNode): void {
    const value = (holder as Record<string | number, unknown>)[key]
    if (int64 && typeof value === 'number') {
      const exact = exactNumberOf(document, holder, key) ?? String(value)
      ;(holder as Record<string | number, unknown>)[key] = exactInteger(exact) ?? value
    }
    if (typeof value !== 'object' || value === null) return
    for (const below of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      const node = nodes[(Object.hasOwn(members, below) ? members[below] : others) ?? -1]
      if (node !== undefined) convert(value, below, node)
    }
  }
}
