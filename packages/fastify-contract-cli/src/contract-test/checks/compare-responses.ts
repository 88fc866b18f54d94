import type { TestResponse } from '../exchange.ts'
import { headerOf } from './documented-response.ts'

/** What differs between two responses to the same request. */
export type Difference = { place: string; first: string; second: string }

/** Matches texts that servers make anew for each response: times, dates and UUIDs. */
const volatileText =
  /^(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d\d:\d\d(?::\d\d.*)?|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|\w{3}, \d\d \w{3} \d{4} .*GMT)$/i

/** Seconds of the years 2001 to 2286; milliseconds are a thousand times as many. */
const isTime = (value: number): boolean =>
  [1, 1_000, 1_000_000].some((unit) => value > 1e9 * unit && value < 1e10 * unit)

const isVolatile = (value: unknown): boolean =>
  (typeof value === 'string' && volatileText.test(value)) || (typeof value === 'number' && isTime(value))

/** The maximum number of characters of a value in a message. */
const maxShown = 200

/** Returns the first difference between two responses, except times and UUIDs in bodies of JSON; undefined if none. */
export function difference(one: TestResponse, other: TestResponse): Difference | undefined {
  if (one.status !== other.status) return { place: 'status', first: String(one.status), second: String(other.status) }
  const first = headerOf(one, 'content-type')
  const second = headerOf(other, 'content-type')
  if (first !== second) return { place: 'content-type', first: String(first), second: String(second) }
  if (Buffer.from(one.body).equals(other.body)) return undefined
  const [value, next] = [jsonOf(one), jsonOf(other)]
  // Other media types, such as pages, may have anything that changes.
  return value === undefined || next === undefined ? undefined : differenceOf(value, next, 'body')
}

function jsonOf({ body }: TestResponse): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString()) ?? undefined
  } catch {
    return undefined
  }
}

function differenceOf(one: unknown, other: unknown, place: string): Difference | undefined {
  if (Object.is(one, other) || (isVolatile(one) && isVolatile(other))) return undefined
  const isTree = typeof one === 'object' && typeof other === 'object' && one !== null && other !== null
  if (!isTree || Array.isArray(one) !== Array.isArray(other)) return { place, first: shown(one), second: shown(other) }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const below = differenceOf(memberOf(one, name), memberOf(other, name), `${place}/${name}`)
    if (below !== undefined) return below
  }
  return undefined
}

const memberOf = (holder: object, name: string): unknown =>
  Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, maxShown))
