/** The middle one of some numbers; of an even count the greater. */
export const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

/** The middle one of what each round's value is as a multiple of the reference's: what slowed down a round slowed both. */
export const medianRatio = (values: number[], references: number[]) =>
  median(values.map((value, round) => value / (references[round] as number)))

/** A line of a table. */
export const row = (cells: string[]) =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(11) : cell.padStart(11))).join('')

/** Takes lines of cells; gives a table whose columns are as wide as they need to be. */
export function table(lines: string[][]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))) ?? []
  const line = (cells: string[]) =>
    cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
    )
  return lines.map((cells) => line(cells).join('  ')).join('\n')
}

/** Gives the same in another order, any of which is as likely. */
export function shuffled<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
