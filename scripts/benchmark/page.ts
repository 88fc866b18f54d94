import { growth } from './growth/growth.ts'
import type { Series } from './growth/series.ts'
import { type Implementation, implementations } from './implementations.ts'
import { comparedRows, comparing, nameOf, openingOf } from './opening.ts'
import type { Published, Run } from './published.ts'
import { table } from './report.ts'
import { type Figure, figures, type Row, spreadText } from './results.ts'
import { servers } from './shapes.ts'
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

const rowsIn = (runs: Record<string, Run>): Row[] => comparing.flatMap((group) => runs[group]?.rows ?? [])

const cellIn = (rows: Row[], name: string, figure: Figure, implementation: Implementation) =>
  rows.find((row) => row.row === name && row.figure === figure)?.cells[implementation]

/** Returns the last run of a group, which is measured with one version of Node. */
const lastRun = (published: Published, group: string): Run | undefined =>
  Object.values(published).findLast((runs) => runs[group] !== undefined)?.[group]

/** A row for each implementation: what it is, and its ratios. */
function peerTable(published: Published): string {
  const run = lastRun(published, 'peers')
  const rows = run?.rows ?? []
  const body = peers.map(function rowOf(key) {
    const [name, text] = implementations[key]
    return [name, text, ...rows.map(({ cells }) => spreadText(cells[key]?.ratio))]
  })
  const heads = [run === undefined ? '' : `Node ${run.version}`, 'what it is', ...rows.map(nameOf)]
  return table([heads, ...body])
}

const peers = servers.peers.flatMap(({ implementations }) => implementations)

/** A row for each count of all series. The last row of a series says what one more takes. */
function growthTable(published: Published): string {
  const compared = ['fastify', 'service'] as const
  const shown = ['cpu', 'memory', 'share'] as const
  const runs = Object.keys(growth).flatMap((group) => lastRun(published, group) ?? [])
  const rows = runs.flatMap((run) => run.rows)
  const body = Object.values(growth)
    .flat()
    .flatMap((series) =>
      series.counts.map((count) => [
        series.rowOf(count),
        ...shown.flatMap((figure) =>
          compared.map((key) => spreadText(cellIn(rows, series.rowOf(count), figure, key)?.value)),
        ),
        count === series.counts.at(-1) ? compared.map((key) => memoryOfOne(series, rows, key)).join('; ') : '',
      ]),
    )
  const heads = shown.flatMap((figure) =>
    compared.map((key) => `${figures[figure].name}, ${figures[figure].unit}: ${implementations[key][0]}`),
  )
  const versions = [...new Set(runs.map(({ version }) => `Node ${version}`))].join(', ')
  return rows.length === 0 ? '' : table([[versions, ...heads, 'memory of one more: both'], ...body])
}

/** Returns the memory that one more takes: from the smallest to the largest count. */
function memoryOfOne({ counts, rowOf }: Series, rows: Row[], key: Implementation): string {
  const [least = 0, most = 0] = [counts[0], counts.at(-1)]
  const [from, to] = [least, most].map((count) => cellIn(rows, rowOf(count), 'memory', key)?.value[0])
  if (from === undefined || to === undefined) return '-'
  const bytes = ((to - from) * 2 ** 20) / (most - least)
  return bytes < 1_024 ? `${bytes.toFixed(0)} bytes` : `${(bytes / 1_024).toFixed(1)} KiB`
}
