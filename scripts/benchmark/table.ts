/** The middle one of some numbers; of an even count the greater. */
export const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

/** A line of a table. */
export const row = (cells: string[]) =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(11) : cell.padStart(11))).join('')
