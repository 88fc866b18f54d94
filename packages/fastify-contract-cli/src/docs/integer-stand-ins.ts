import { stringifyJson } from 'fastify-contract/json'
import { numbers } from './exact-digits.ts'

/** The text of the number that stands for an integer, and the digits of the integer. */
export type StandIn = [text: string, digits: string]

/**
 * Returns a value with a number in the place of each bigint whose number JavaScript shows with other digits, and which
 * number stands for which digits. The numbers are close to what they stand for, differ from each other, and have texts that
 * occur nowhere else in the value, so that the script of the page recognizes them.
 */
export function withStandIns<T>(given: T): { value: T; integers: StandIn[] } {
  const taken = new Set(stringifyJson(given)?.match(numbers))
  const standIns = new Map<bigint, number>()
  /** Where the search for a number ended, by where it began. */
  const lowest = new Map<number, number>()
  const value = copy(given) as T
  return { value, integers: [...standIns].map(([exact, number]) => [String(number), String(exact)]) }

  function copy(each: unknown): unknown {
    if (typeof each === 'bigint') return each < 0n ? -numberFor(-each) : numberFor(each)
    if (Array.isArray(each)) return each.map(copy)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, held]) => [name, copy(held)]))
  }

  function numberFor(exact: bigint): number {
    const rounded = Number(exact)
    const known = standIns.get(exact)
    if (known !== undefined || String(rounded) === String(exact)) return known ?? rounded
    let number = lowest.get(rounded) ?? rounded
    while (isTaken(number)) number = previousDouble(number)
    lowest.set(rounded, number)
    standIns.set(exact, number)
    return number
  }

  /** Returns whether the text of a number occurs in the value, or is so short that it may be typed; takes it otherwise. */
  function isTaken(number: number): boolean {
    const text = String(number)
    if (text.length < shortest || taken.has(text)) return true
    taken.add(text)
    return false
  }
}

/** The minimum length of a text that stands for an integer. */
const shortest = 16

/** Returns the next double below a positive one. */
function previousDouble(number: number): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  view.setBigInt64(0, view.getBigInt64(0) - 1n)
  return view.getFloat64(0)
}
