import { readFile, writeFile } from 'node:fs/promises'
import { type Implementation, implementations } from './implementations.ts'
import { median, quantile, ratios } from './statistics.ts'

/** The figures that a round measures: CPU in microseconds for each correct response, and times in milliseconds. */
export type Figure = 'cpu' | 'p50' | 'p99' | 'time'

/** The values of each round by shape, figure and implementation. */
export type Results = Map<string, Map<Figure, Map<Implementation, number[]>>>

/** Adds a value of a round. */
export function addResult(
  results: Results,
  shape: string,
  figure: Figure,
  implementation: Implementation,
  value: number,
): void {
  const figures = results.get(shape) ?? new Map<Figure, Map<Implementation, number[]>>()
  const values = figures.get(figure) ?? new Map<Implementation, number[]>()
  results.set(shape, figures.set(figure, values.set(implementation, [...(values.get(implementation) ?? []), value])))
}

/** The implementation to which all ratios compare. */
const reference = 'fastify'

/**
 * Returns Markdown: as `summary` the chart and the ratios of CPU and of times, for docs/benchmarks.md, and as `details`
 * the ratios of latencies, which follow from the throughput in a closed loop, and all values.
 */
export function report(results: Results): { summary: string[]; details: string[] } {
  const section = (title: string, cellOf: Cell, ...figures: Figure[]) => {
    const shapes = [...results].filter(([, values]) => figures.every((figure) => values.has(figure)))
    const columns = Object.entries(implementations).filter(([implementation]) =>
      shapes.some(([, values]) => values.get(figures[0] as Figure)?.has(implementation as Implementation)),
    ) as [Implementation, string][]
    const rows = shapes.map(([shape, values]) => [
      shape,
      ...columns.map(([implementation]) =>
        figures
          .map((figure) => cellOf(values.get(figure)?.get(implementation), values.get(figure)?.get(reference)))
          .join(' / '),
      ),
    ])
    return rows.length === 0 ? [] : [`${title}:`, table([['', ...columns.map(([, name]) => name)], ...rows])]
  }
  return {
    summary: [
      ...chart(results.get('64 connections')?.get('cpu')),
      ...section('Ratio of CPU per request', ratioCell, 'cpu'),
      ...section('Ratio of times', ratioCell, 'time'),
    ],
    details: [
      ...section('Ratio of median latency', ratioCell, 'p50'),
      ...section('CPU per request, in µs', valueCell(1), 'cpu'),
      ...section('Median latency / p99, in ms', valueCell(2), 'p50', 'p99'),
      ...section('Times, in ms', valueCell(2), 'time'),
    ],
  }
}

type Cell = (values: number[] | undefined, references: number[] | undefined) => string

const valueCell =
  (digits: number): Cell =>
  (values) =>
    values === undefined ? '-' : median(values).toFixed(digits)

/** The median of the ratios of all rounds, with the first and the third quartile. */
const ratioCell: Cell = (values, references) => {
  if (values === undefined || references === undefined) return '-'
  const all = ratios(values, references)
  const [middle, first, third] = [0.5, 0.25, 0.75].map((share) => quantile(all, share).toFixed(2))
  return `${middle} (${first}-${third})`
}

/** Formats a Markdown table with columns as wide as their longest cell. */
export function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: string[]) =>
    `| ${widths.map((width, column) => (column === 0 ? cells[column]?.padEnd(width) : cells[column]?.padStart(width))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Returns a bar for each implementation, as long as the requests that it completes in a second of CPU. */
function chart(costs: Map<Implementation, number[]> | undefined): string[] {
  if (costs === undefined) return []
  const bars = Object.entries(implementations).flatMap(([implementation, name]) => {
    const values = costs.get(implementation as Implementation)
    return values === undefined ? [] : [{ name, rate: 1e6 / median(values) }]
  })
  const longest = Math.max(...bars.map(({ name }) => name.length))
  const most = Math.max(...bars.map(({ rate }) => rate))
  const lines = bars.map(
    ({ name, rate }) =>
      `${name.padEnd(longest)}  ${'█'.repeat(Math.round((50 * rate) / most))} ${Math.round(rate).toLocaleString('en-US')}`,
  )
  return ['Requests per second of CPU, with 64 connections:', ['```text', ...lines, '```'].join('\n')]
}

/** Writes a text between the two markers of a part of a page. */
export async function writeFigures(page: string, part: string, text: string): Promise<void> {
  const [begin, end] = [`[//]: # (begin of ${part})`, `[//]: # (end of ${part})`]
  const before = await readFile(page, 'utf8')
  const [from, to] = [before.indexOf(begin) + begin.length, before.indexOf(end)]
  if (from < begin.length || to < from) throw new Error(`${page} has no lines "${begin}" and "${end}"; add them`)
  await writeFile(page, `${before.slice(0, from)}\n\n${text}\n\n${before.slice(to)}`)
}
