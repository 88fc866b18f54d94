import { median } from '../statistics.ts'
import type { Pairs } from './measure.ts'
import type { Usage } from './measure-command.ts'

/** The medians of the ratios of a row: the command's usage divided by that of its peer, so that less is better. */
export type Ratios = Record<string, Usage>

/** Returns the ratios of all rows. */
export const ratiosOf = (pairs: Pairs): Ratios =>
  Object.fromEntries(
    Array.from(pairs, ([row, all]) => [
      row,
      usageOf((figure) => median(all.map(({ own, peer }) => own[figure] / peer[figure]))),
    ]),
  )

/** Returns the medians of the command and of its peer for all rows. */
export const mediansOf = (pairs: Pairs): Record<string, { own: Usage; peer: Usage }> =>
  Object.fromEntries(
    Array.from(pairs, ([row, all]) => [
      row,
      {
        own: usageOf((figure) => median(all.map(({ own }) => own[figure]))),
        peer: usageOf((figure) => median(all.map(({ peer }) => peer[figure]))),
      },
    ]),
  )

function usageOf(figureOf: (figure: keyof Usage) => number): Usage {
  const [wall, cpu, memory] = (['wall', 'cpu', 'memory'] as const).map((figure) =>
    Number(figureOf(figure).toPrecision(3)),
  )
  return { wall, cpu, memory } as Usage
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
  const figures = isNoisy ? (['cpu', 'memory'] as const) : (['wall', 'cpu', 'memory'] as const)
  const missing = Object.keys(committed).filter((row) => measured[row] === undefined)
  return [
    ...missing.map((row) => `${row}: not measured; run the benchmark with --write if that is intended`),
    ...Object.entries(measured).flatMap(([row, usage]) => {
      const before = committed[row]
      if (before === undefined) return [`${row}: has no committed ratios; run the benchmark with --write`]
      return figures
        .filter((figure) => !(usage[figure] <= before[figure] * tolerance))
        .map((figure) => `${row}: the ratio of ${names[figure]} is ${usage[figure]}, and was ${before[figure]}`)
    }),
  ]
}

const names = { wall: 'elapsed time', cpu: 'CPU', memory: 'memory' }

/** Returns the setbacks of one measurement that another one has, too, whatever their figures. */
export const inBoth = (first: string[], second: string[]): string[] => {
  const subjects = new Set(first.map(subjectOf))
  return second.filter((line) => subjects.has(subjectOf(line)))
}

const subjectOf = (line: string): string => line.replace(/ is [\d.]+, and was .*/, '')
