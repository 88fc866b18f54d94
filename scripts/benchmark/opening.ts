import type { Implementation } from './implementations.ts'
import type { Published } from './published.ts'
import { type Figure, figures, type Row, type Spread } from './results.ts'

/** The smallest ratio that counts as a difference: two processes of the same code often differ by 10 %. */
const difference = 1.1

/** How many processes a ratio needs to be in a sentence. */
const fewest = 3

/** The groups whose rows compare this service with Fastify, in the order of the page. */
export const comparing = ['memory', 'sqlite', 'operations']

/** A row of this service, with its ratio for each version of Node. */
export type Compared = { row: string; figure: Figure; ratios: (Spread | undefined)[] }

/** Returns the rows that compare this service with Fastify, in the order of figures. */
export function comparedRows(published: Published): Compared[] {
  const rows = new Map<string, Compared>()
  const versions = Object.values(published)
  for (const [index, runs] of versions.entries())
    for (const { row, figure, cells } of comparing.flatMap((group) => runs[group]?.rows ?? [])) {
      const key = `${figure} ${row}`
      const compared = rows.get(key) ?? { row, figure, ratios: versions.map(() => undefined) }
      compared.ratios[index] = cells.service?.ratio
      if (figure !== 'share' && figure !== 'wakeUps') rows.set(key, compared)
    }
  const order = Object.keys(figures)
  return [...rows.values()].sort((a, b) => order.indexOf(a.figure) - order.indexOf(b.figure))
}

type Verdict = 'better' | 'worse' | 'same' | 'mixed' | 'unknown'

/**
 * Returns what the ratios of a row say. A difference is one of 10 % or more, with both quartiles on its side of 1. A row is
 * mixed if the versions of Node differ, and unknown if a version has fewer than three processes.
 */
export function verdictOf(ratios: Compared['ratios']): Verdict {
  const verdicts = new Set(ratios.map(verdictOfVersion))
  if (verdicts.has('unknown')) return 'unknown'
  return verdicts.size > 1 ? 'mixed' : ([...verdicts][0] as Verdict)
}

function verdictOfVersion(ratio: Spread | undefined): Verdict {
  if (ratio === undefined || ratio[3] < fewest) return 'unknown'
  const [middle, first, third] = ratio
  if (middle >= difference && first > 1) return 'better'
  return middle <= 1 / difference && third < 1 ? 'worse' : 'same'
}

/** Returns the name of a row that is unique on the page, such as "p99: 500 operations". */
export const nameOf = ({ row, figure }: Pick<Row, 'row' | 'figure'>): string => `${figures[figure].name}: ${row}`

/** Returns the sentences at the top of the page, which say what the rows say. */
export function openingOf(published: Published): string {
  const versions = Object.keys(published)
  if (versions.length === 0) return 'There are no figures yet: `.ci/nightly benchmark --write` measures them.'
  const rows = comparedRows(published)
  const cpu = rows.filter(({ figure }) => figure === 'cpu').map(({ row, ratios }) => ({ name: row, ratios }))
  const times = rows.filter(({ figure }) => figure !== 'cpu').map((row) => ({ name: nameOf(row), ratios: row.ratios }))
  return [
    `Compared with Fastify by hand, with Node ${listOf(versions)}, this service needs`,
    '',
    ...bullet(cpu, 'better', (ratio) => 100 * (1 - 1 / ratio), '% less CPU for'),
    ...bullet(cpu, 'worse', (ratio) => 100 * (1 / ratio - 1), '% more CPU for'),
    ...bullet(cpu, 'same', undefined, 'as much CPU, within 10 % or the spread, for'),
    ...bullet(cpu, 'mixed', undefined, 'more or less CPU, which depends on the version of Node, for'),
    ...bullet(times, 'better', (ratio) => 100 * (1 - 1 / ratio), '% less time for'),
    ...bullet(times, 'worse', (ratio) => 100 * (1 / ratio - 1), '% more time for'),
    ...bullet(times, 'same', undefined, 'as much time for'),
    ...bullet(times, 'mixed', undefined, 'more or less time, which depends on the version of Node, for'),
    ...bullet([...cpu, ...times], 'unknown', undefined, 'an unknown amount, with fewer than three quiet rounds, for'),
    ...idleBullet(published),
  ].join('\n')
}

/** Returns a line about the rows with a verdict, with the range of what they say; none if there are no rows. */
function bullet(
  all: { name: string; ratios: Compared['ratios'] }[],
  verdict: Verdict,
  valueIn: ((ratio: number) => number) | undefined,
  text: string,
): string[] {
  const rows = all.filter(({ ratios }) => verdictOf(ratios) === verdict)
  if (rows.length === 0) return []
  const names = rows.map(({ name }) => name).join('; ')
  if (valueIn === undefined) return [`- ${text}: ${names}.`]
  const values = rows.flatMap(({ ratios }) => ratios.map((ratio) => valueIn((ratio as Spread)[0])))
  return [`- ${rangeOf(values, 0)} ${text}: ${names}.`]
}

/** Returns a line about processes without requests. */
function idleBullet(published: Published): string[] {
  const rows = Object.values(published).flatMap((runs) => comparing.flatMap((group) => runs[group]?.rows ?? []))
  const rangeFor = (implementation: Implementation, figure: Figure, digits: number) => {
    const ofFigure = rows.filter((row) => row.figure === figure && row.cells[implementation] !== undefined)
    return rangeOf(
      ofFigure.map(({ cells }) => cells[implementation]?.value[0] as number),
      digits,
    )
  }
  if (!rows.some(({ figure }) => figure === 'wakeUps')) return []
  const [own, other] = (['service', 'fastify'] as const).map(
    (implementation) =>
      `${rangeFor(implementation, 'share', 2)} % of a core and ${rangeFor(implementation, 'wakeUps', 0)} wake-ups a second`,
  )
  return [`- while idle, ${own} (Fastify: ${other}).`]
}

/** Returns the smallest and the largest value as text, such as "3 to 12". */
function rangeOf(values: number[], digits: number): string {
  const [least, most] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)]
  return least === most ? least : `${least} to ${most}`
}

const listOf = (words: string[]): string =>
  words.length === 1 ? (words[0] as string) : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
