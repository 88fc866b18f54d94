import { growth } from './growth/growth.ts'
import type { Series } from './growth/series.ts'
import { type Implementation, implementations } from './implementations.ts'
import { comparedRows, nameOf, openingOf } from './opening.ts'
import type { Published, Run } from './published.ts'
import { table } from './report.ts'
import { type Figure, figures, type Row, spreadText } from './results.ts'
import { sliceText } from './steal.ts'

export const page = 'docs/benchmarks.md'

/** Returns the parts of the page that figures make up, by their names between the markers. */
export const partsOf = (published: Published): Record<string, string> => ({
  'the opening': openingOf(published),
  'the figures': [conditionsOf(published), ratioTable(published), idleTable(published)]
    .filter((text) => text !== '')
    .join('\n\n'),
  'the implementations': peerTable(published),
  'the growth': growthTable(published),
})

/** Returns the columns of the versions of Node. */
const headsOf = (published: Published): string[] =>
  Object.values(published).map((runs) => `Node ${Object.values(runs)[0]?.version}`)

/** Returns the conditions of all runs, each once, and what the check for stolen time did. */
function conditionsOf(published: Published): string {
  const runs = Object.values(published).flatMap((ofVersion) => Object.values(ofVersion))
  if (runs.length === 0) return ''
  const conditions = [...new Set(runs.map((run) => run.conditions))]
  return [...conditions, sliceText(runs.map(({ slices }) => slices))].join('\n')
}

function ratioTable(published: Published): string {
  const rows = comparedRows(published).map((row) => [nameOf(row), ...row.ratios.map((ratio) => spreadText(ratio))])
  return rows.length === 0 ? '' : table([['', ...headsOf(published)], ...rows])
}

/** A row for each figure of idle processes. */
function idleTable(published: Published): string {
  const runs = Object.values(published)
  const keys = new Map<string, Row>()
  for (const row of runs.flatMap(rowsIn))
    if (row.figure === 'wakeUps' || row.figure === 'share') keys.set(nameOf(row), row)
  const compared = ['fastify', 'service'] as const
  const rows = Array.from(keys, ([name, { row, figure }]) => [
    `${name}, ${figures[figure].unit}`,
    ...compared.flatMap((implementation) =>
      runs.map((ofVersion) => spreadText(cellIn(rowsIn(ofVersion), row, figure, implementation)?.value)),
    ),
  ])
  const heads = compared.flatMap((implementation) =>
    headsOf(published).map((head) => `${implementations[implementation][0]}, ${head}`),
  )
  return rows.length === 0 ? '' : table([['', ...heads], ...rows])
}

const rowsIn = (runs: Record<string, Run>): Row[] =>
  Object.entries(runs).flatMap(([group, run]) => (group === 'growth' ? [] : run.rows))

const cellIn = (rows: Row[], name: string, figure: Figure, implementation: Implementation) =>
  rows.find((row) => row.row === name && row.figure === figure)?.cells[implementation]

/** Returns the last run of a group, which is measured with one version of Node. */
const lastRun = (published: Published, group: string): Run | undefined =>
  Object.values(published).findLast((runs) => runs[group] !== undefined)?.[group]

/** A row for each implementation: what it is, and its ratios. */
function peerTable(published: Published): string {
  const run = lastRun(published, 'peers')
  const rows = run?.rows ?? []
  const cells = (implementation: Implementation) => rows.map(({ cells }) => spreadText(cells[implementation]?.ratio))
  const body = Object.entries(implementations).map(([key, [name, text]]) => [
    name,
    text,
    ...cells(key as Implementation),
  ])
  const heads = ['column', 'what it is', ...rows.map(nameOf)]
  return [...(run === undefined ? [] : [`With Node ${run.version}:`]), table([heads, ...body])].join('\n\n')
}

/** A row for each count, and a line for each series that says what one more takes. */
function growthTable(published: Published): string {
  const compared = ['fastify', 'service'] as const
  const shown = ['cpu', 'memory', 'share'] as const
  const parts = Object.entries(growth).flatMap(function partOf([group, series]) {
    const run = lastRun(published, group)
    return run === undefined ? [] : series.map((each) => ({ each, run }))
  })
  const body = parts.flatMap(({ each, run }) =>
    each.counts.map((count) => [
      each.rowOf(count),
      ...shown.flatMap((figure) =>
        compared.map((key) => spreadText(cellIn(run.rows, each.rowOf(count), figure, key)?.value),
        ),
      ),
    ]),
  )
  const heads = shown.flatMap((figure) =>
    compared.map((key) => `${figures[figure].name}, ${figures[figure].unit}: ${implementations[key][0]}`),
  )
  if (body.length === 0) return ''
  const lines = parts.map(({ each, run }) => slopeOf(each, run.rows))
  const versions = [...new Set(parts.map(({ run }) => run.version))]
  return [`With Node ${versions.join(', ')}:`, table([['', ...heads], ...body]), lines.join('\n')].join('\n\n')
}

/** Returns a line with the memory that one more takes: from the smallest to the largest count. */
function slopeOf({ one, counts, rowOf, reason }: Series, rows: Row[]): string {
  const [least = 0, most = 0] = [counts[0], counts.at(-1)]
  const kibibytes = (['service', 'fastify'] as const).map(function each(key) {
    const [from, to] = [least, most].map((count) => cellIn(rows, rowOf(count), 'memory', key)?.value[0])
    return from === undefined || to === undefined ? undefined : ((to - from) * 1_024) / (most - least)
  })
  const [own, other] = kibibytes.map((value) => `${value?.toFixed(1)} KiB`)
  const beside = kibibytes[1] === undefined ? '' : ` (Fastify: ${other})`
  return `- Each further ${one} takes ${own} of memory${beside}, for ${reason}.`
}
