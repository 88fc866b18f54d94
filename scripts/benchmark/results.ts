import type { Implementation } from './implementations.ts'
import { quantile } from './statistics.ts'
import type { Slice } from './steal.ts'

/**
 * What is measured, with its name, its unit, and whether more is better. CPU is that of a correct response, and memory is
 * resident.
 */
export const figures = {
  cpu: { name: 'CPU', unit: 'µs' },
  rate: { name: 'throughput', unit: '1/s', isMoreBetter: true },
  p50: { name: 'median', unit: 'ms' },
  p99: { name: 'p99', unit: 'ms' },
  p999: { name: 'p99.9', unit: 'ms' },
  start: { name: 'start', unit: 'ms' },
  first: { name: 'first request', unit: 'ms' },
  slowest: { name: 'slowest of the first second', unit: 'ms' },
  share: { name: 'CPU when idle', unit: '% of a core' },
  wakeUps: { name: 'wake-ups when idle', unit: '1/s' },
  memory: { name: 'memory', unit: 'MiB' },
} satisfies Record<string, { name: string; unit: string; isMoreBetter?: boolean }>
export type Figure = keyof typeof figures

/** The values of all rounds by row, figure and implementation. A round without a quiet slice has no value. */
export type Results = Map<string, Map<Figure, Map<Implementation, Map<number, number>>>>

/** Adds what a slice of a round measured for an implementation, unless too much of its time was stolen. */
export function addSlice(
  results: Results,
  { row, round, implementation }: { row: string; round: number; implementation: Implementation },
  { result, isQuiet }: Slice<Partial<Record<Figure, number>>>,
): void {
  if (!isQuiet) return
  const ofRow = results.get(row) ?? new Map()
  results.set(row, ofRow)
  for (const [figure, value] of Object.entries(result) as [Figure, number][]) {
    const ofFigure = ofRow.get(figure) ?? new Map()
    ofRow.set(figure, ofFigure.set(implementation, (ofFigure.get(implementation) ?? new Map()).set(round, value)))
  }
}

/** The median of some values, the first and the third quartile, and how many values there are: one for each process. */
export type Spread = [median: number, first: number, third: number, processes: number]

/** What a row has of an implementation: the values, and the ratios to the reference, above 1 where it does better. */
export type Cell = { value: Spread; ratio?: Spread }

/** The cells of a row and figure by implementation. */
export type Row = { row: string; figure: Figure; cells: Partial<Record<Implementation, Cell>> }

/** The implementation to which all ratios compare. */
export const reference = 'fastify'

/** Returns the rows of results. */
export const rowsOf = (results: Results): Row[] =>
  Array.from(results, ([row, ofRow]) =>
    Array.from(ofRow, ([figure, values]) => ({ row, figure, cells: cellsOf(figure, values) })),
  ).flat()

function cellsOf(figure: Figure, values: Map<Implementation, Map<number, number>>): Row['cells'] {
  const references = values.get(reference) ?? new Map<number, number>()
  const cells = Array.from(values, function cellOf([implementation, ofRounds]) {
    // A busy machine slows down both values of a round, so their ratio varies less than the values.
    const ratios = Array.from(ofRounds, ([round, value]) => ratioOf(figure, value, references.get(round)))
    const known = ratios.filter((ratio) => ratio !== undefined)
    const value = spreadOf([...ofRounds.values()])
    return [implementation, { value, ...(known.length > 0 && { ratio: spreadOf(known) }) }]
  })
  return Object.fromEntries(cells)
}

function ratioOf(figure: Figure, value: number, other: number | undefined): number | undefined {
  if (other === undefined || value === 0 || other === 0) return undefined
  return 'isMoreBetter' in figures[figure] ? value / other : other / value
}

function spreadOf(values: number[]): Spread {
  const [median = 0, first = 0, third = 0] = [0.5, 0.25, 0.75].map((share) =>
    Number(quantile(values, share).toPrecision(4)),
  )
  return [median, first, third, values.length]
}

/** Returns a spread as text, such as "1.24 (1.17-1.38, 5)", or "-" where there is none. */
export function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return '-'
  const [median, first, third, processes] = spread
  const digits = median >= 100 ? 0 : median >= 10 ? 1 : 2
  const text = (value: number) => value.toFixed(digits)
  return `${text(median)} (${text(first)}-${text(third)}, ${processes})`
}
