import type { TestRequest } from '../exchange.ts'
import { isJsonScalar } from './identifying-value.ts'

/** A property that was written and is read with another value. */
export type LostValue = { place: string; sent: string; got: string }

/**
 * Returns the first scalar property of a written JSON body that a read body has with another value; undefined if none.
 * Properties that the body lacks do not count, nor does `identity`, which the server may choose.
 *
 * @param isExact Whether texts must be equal. Other servers may trim them, or change their case.
 */
export function lostValue(
  { values: { body } }: TestRequest,
  read: unknown,
  identity: string,
  isExact: boolean,
): LostValue | undefined {
  for (const [name, value] of membersOf(body?.value)) {
    const got = Object.hasOwn(Object(read), name) ? (read as Record<string, unknown>)[name] : undefined
    if (name === identity || !isJsonScalar(value) || !isJsonScalar(got)) continue
    if (typeof value !== 'string' || typeof got !== 'string') {
      if (isNumber(value) !== isNumber(got) || String(value) === String(got)) continue
      if (isNumber(value) && Number(value) === Number(got) && !isExact) continue
    } else if (value === got || (!isExact && isAlike(value, got))) continue
    return { place: name, sent: shown(value), got: shown(got) }
  }
  return undefined
}

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint'

/** Returns whether one text contains the other one, without case and all that is no letter or digit. */
function isAlike(one: string, other: string): boolean {
  const [first, second] = [plain(one), plain(other)]
  // Times have many notations.
  return first.includes(second) || second.includes(first) || Date.parse(one) === Date.parse(other)
}

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const shown = (value: unknown): string =>
  (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 200)
