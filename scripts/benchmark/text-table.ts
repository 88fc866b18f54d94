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
