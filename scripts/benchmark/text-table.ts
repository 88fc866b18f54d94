/** Formats a row with columns of fixed width, so that rows can be printed one at a time. */
export const row = (cells: string[]) =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(11) : cell.padStart(11))).join('')

/** Formats a table with columns as wide as their longest cell. */
export function table(lines: string[][]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))) ?? []
  const line = (cells: string[]) =>
    cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
    )
  return lines.map((cells) => line(cells).join('  ')).join('\n')
}
