import { median } from '../statistics.ts'
import type { Figures, Pair, Pairs } from './measure.ts'

const figures = ['wall', 'cpu', 'memory', 'instantiations'] as const
type Figure = (typeof figures)[number]

/** The medians of the ratios of each row: the command's usage divided by that of its peer, so that less is better. */
export type Ratios = Record<string, Figures>

/** Returns the ratios of all rows. */
export const ratiosOf = (pairs: Pairs): Ratios =>
  mapRows(pairs, ({ own, peer }, figure) => (own[figure] as number) / (peer[figure] as number))

/** Returns the medians of the commands, or of their peer. */
export const mediansOf = (pairs: Pairs, side: 'own' | 'peer'): Record<string, Figures> =>
  mapRows(pairs, (pair, figure) => pair[side][figure] as number)

function mapRows(pairs: Pairs, figureOf: (pair: Pair, figure: Figure) => number): Record<string, Figures> {
  const rows = Array.from(pairs, function rowOf([row, all]) {
    const measured = figures.filter((figure) => all.every(({ own }) => own[figure] !== undefined))
    const medianOf = (figure: Figure) => Number(median(all.map((pair) => figureOf(pair, figure))).toPrecision(3))
    return [row, Object.fromEntries(measured.map((figure) => [figure, medianOf(figure)]))]
  })
  return Object.fromEntries(rows)
}

/** How many times its committed value a ratio may be: processes of the same code differ by 15 %. */
const tolerance = 4 / 3

/**
 * Returns a line for each ratio that is a third worse than the committed one, for each row that was not measured, and for
 * each that has no committed ratios. If other virtual machines stole time throughout, wall times are not compared, since
 * CPU time suffers less.
 */
export function setbacks(committed: Ratios | undefined, measured: Ratios, isNoisy: boolean): string[] {
  if (committed === undefined)
    return ['there are no committed ratios for this version of Node; run the benchmark with --write']
  const missing = Object.keys(committed).filter((row) => measured[row] === undefined)
  return [
    ...missing.map((row) => `${row}: not measured; run the benchmark with --write if that is intended`),
    ...Object.entries(measured).flatMap(([row, usage]) => {
      const before = committed[row]
      if (before === undefined) return [`${row}: has no committed ratios; run the benchmark with --write`]
      const compared = figures.filter((figure) => before[figure] !== undefined && !(isNoisy && figure === 'wall'))
      return compared
        .filter((figure) => !((usage[figure] as number) <= (before[figure] as number) * tolerance))
        .map((figure) => `${row}: the ratio of ${names[figure]} is ${usage[figure]}, and was ${before[figure]}`)
    }),
  ]
}

const names = { wall: 'elapsed time', cpu: 'CPU', memory: 'memory', instantiations: 'instantiations' }

/** Returns the setbacks of one measurement that another one has, too, whatever their figures. */
export const inBoth = (first: string[], second: string[]): string[] => {
  const subjects = new Set(first.map(subjectOf))
  return second.filter((line) => subjects.has(subjectOf(line)))
}

const subjectOf = (line: string): string => line.replace(/ is [\d.]+, and was .*/, '')
