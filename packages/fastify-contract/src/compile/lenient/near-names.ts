/** Returns whether two names differ by spelling only: in their case and punctuation, and by at most two typing errors. */
export const isNear = (name: string, other: string): boolean => nearest(name, [other]) === other

/** Returns the name that another one was probably meant to be; undefined if there is none, or no nearest one. */
export function nearest(name: string, names: string[]): string | undefined {
  const given = plain(name)
  const near = names.flatMap((each) => {
    const other = plain(each)
    const limit = other.length < 6 ? 1 : 2
    if (Math.abs(given.length - other.length) > limit || given[0] !== other[0]) return []
    const count = distance(given, other)
    return count > limit ? [] : [{ each, count }]
  })
  const least = Math.min(...near.map(({ count }) => count))
  const [found, ...others] = near.filter(({ count }) => count === least)
  return others.length > 0 ? undefined : found?.each
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Returns the number of characters to insert, remove, replace or swap to get from one text to another. */
function distance(one: string, two: string): number {
  const rows = [Array.from({ length: two.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => (rows[row] as number[])[column] as number
  for (let row = 1; row <= one.length; row++) {
    rows.push([row])
    for (let column = 1; column <= two.length; column++) {
      const replaced = at(row - 1, column - 1) + (one[row - 1] === two[column - 1] ? 0 : 1)
      const isSwap = row > 1 && column > 1 && one[row - 1] === two[column - 2] && one[row - 2] === two[column - 1]
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : replaced
      rows[row]?.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1))
    }
  }
  return at(one.length, two.length)
}
