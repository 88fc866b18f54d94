import type { StandIn } from './integer-stand-ins.ts'

/** Matches a number as JavaScript writes it. */
export const numbers = /\d+(?:\.\d+)?(?:e\+\d+)?/g

/** Returns a function that restores the digits of integers in a text that has the numbers that stand for them. */
export function digitsOf(integers: StandIn[]): (text: string) => string {
  const digits = new Map(integers)
  return (text) => text.replace(numbers, (number) => digits.get(number) ?? number)
}
