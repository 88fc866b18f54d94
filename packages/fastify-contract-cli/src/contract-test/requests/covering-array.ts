/**
 * Returns rows of `count` flags such that each two positions have all four combinations in some row, if there are two:
 * all, none, and for each binary digit of the positions that digit and its opposite. Two positions differ in a digit.
 * There are 2 + 2 log2(count) rows.
 */
export function coveringArray(count: number): boolean[][] {
  if (count === 0) return []
  const row = (flag: (position: number) => boolean) => Array.from({ length: count }, (_, position) => flag(position))
  const rows = [row(() => true), row(() => false)]
  for (let digit = 1; digit < count; digit *= 2) {
    rows.push(row((position) => (position & digit) !== 0))
    rows.push(row((position) => (position & digit) === 0))
  }
  return rows
}
