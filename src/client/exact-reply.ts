import { exactInteger } from '../json/exact-integer.ts'
import { inexactNumber } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'

/** What the schemas of a document say of one place in a reply; the places below are named by their indexes. */
export type ReplyPlace = {
  /** A number here is an int64. */
  int64?: boolean
  /** By the name of a member or the index of an item; null where there is no int64. */
  members?: Record<string, number | null>
  /** The members and items that are not among those. */
  others?: number
}

/** The replies of a document that hold an int64: a place or null by status, by method and path. */
export type Int64Replies = {
  places: ReplyPlace[]
  replies: Record<string, Record<string, number | null>>
}

/**
 * The place of a reply's body; undefined when there is no int64 in it. A range or default is for what is not listed.
 */
export function replyPlace(
  { places, replies }: Int64Replies,
  operation: string,
  status: number,
): ReplyPlace | undefined {
  const byStatus = replies[operation] ?? {}
  const key = [String(status), `${Math.trunc(status / 100)}XX`, 'default'].find((key) => Object.hasOwn(byStatus, key))
  return places[byStatus[key as string] ?? -1]
}

/**
 * Parses the JSON text of a reply. Returns its value with every int64 at its `places` as a bigint. It validates
 * nothing: what is not an integer there stays as it is. Throws when the text is not I-JSON (RFC 7493).
 */
export function exactReply(text: string, { places }: Int64Replies, root: ReplyPlace): unknown {
  const document = parseJson(text)
  convert(document as Holder, 'value', root)
  return document.value

  function convert(holder: Holder, key: string | number, { int64, members = {}, others }: ReplyPlace): void {
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
