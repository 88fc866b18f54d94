import { readFile, writeFile } from 'node:fs/promises'
import { type Implementation, implementations } from './implementations.ts'
import { figures, type Row, spreadText } from './results.ts'

/** Returns the values and the ratios of all rows as tables, for the terminal. */
export function detailsOf(rows: Row[]): string {
  const known = Object.keys(implementations).filter((key) => rows.some(({ cells }) => cells[key as Implementation]))
  const body = rows.flatMap(({ row, figure, cells }) =>
    (['value', 'ratio'] as const).map((part) => [
      `${figures[figure].name}${part === 'value' ? `, ${figures[figure].unit}` : ', ratio'}: ${row}`,
      ...known.map((key) => spreadText(cells[key as Implementation]?.[part])),
    ]),
  )
  return table([['', ...known.map((key) => implementations[key as Implementation][0])], ...body])
}

/** Formats a Markdown table with columns as wide as their longest cell. */
export function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: string[]) =>
    `| ${widths.map((width, column) => (column === 0 ? cells[column]?.padEnd(width) : cells[column]?.padStart(width))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const markers = (part: string) => [`[//]: # (begin of ${part})`, `[//]: # (end of ${part})`] as const

/** Returns a text between the two markers of a part of a page. */
export const textBetween = (part: string, text: string): string => markers(part).join(`\n${text}\n\n`)

/** Writes a text between the two markers of a part of a page. Rejects if the page has no such part. */
export async function writeFigures(page: string, part: string, text: string): Promise<void> {
  const [begin, end] = markers(part)
  const before = await readFile(page, 'utf8')
  const [from, to] = [before.indexOf(begin), before.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${page} has no lines "${begin}" and "${end}"; add them`)
  await writeFile(page, `${before.slice(0, from)}${textBetween(part, text)}${before.slice(to + end.length)}`)
}
