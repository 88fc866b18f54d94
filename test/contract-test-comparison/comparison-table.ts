import { table } from '../../scripts/benchmark/report.ts'
import type { Cell, Comparison } from './compare.ts'

/** Returns the tables of a comparison: the faults, the totals, and what the tools report of the faultless services. */
export function comparisonText({ tools, faults, alarms }: Comparison, conditions: string): string {
  const rows = faults.map(({ fault, cells }) => [
    `${fault.service}: ${fault.text}`,
    ...tools.map((tool) => foundText(cells[tool] as Cell)),
  ])
  const cellsOf = (tool: string) => faults.map(({ cells }) => cells[tool] as Cell)
  const foundAlways = (tool: string) => cellsOf(tool).filter(({ found }) => !found.includes(undefined)).length
  const foundOnce = (tool: string) => cellsOf(tool).filter(({ found }) => found.some((one) => one)).length
  const sum = (tool: string, figure: 'requests' | 'seconds') =>
    cellsOf(tool).reduce((total, cell) => total + median(cell[figure]), 0)
  const totals = [
    ['found with every seed', ...tools.map((tool) => `${foundAlways(tool)} of ${faults.length}`)],
    ['found with a seed', ...tools.map((tool) => `${foundOnce(tool)} of ${faults.length}`)],
    ['requests of all runs', ...tools.map((tool) => String(sum(tool, 'requests')))],
    ['seconds of all runs', ...tools.map((tool) => sum(tool, 'seconds').toFixed(0))],
    ['failures of the faultless services', ...tools.map((tool) => String(alarms[tool]?.size ?? 0))],
  ]
  const list = tools.flatMap((tool) =>
    Array.from(alarms[tool]?.keys() ?? [], (key) => `- ${tool}: \`${key.replaceAll('`', '')}\``),
  )
  const parts = [conditions, table([['fault', ...tools], ...rows]), table([['', ...tools], ...totals])]
  if (list.length > 0) parts.push(['Failures of the faultless services:', '', ...list].join('\n'))
  return parts.join('\n\n')
}

/** Returns how often a fault was found, and the medians and spreads until then. */
function foundText({ found }: Cell): string {
  const all = found.filter((one) => one !== undefined)
  if (all.length === 0) return 'not found'
  const share = all.length < found.length ? `${all.length} of ${found.length}: ` : ''
  const requests = spread(
    all.map(({ requests }) => requests),
    0,
  )
  return `${share}${requests} requests, ${spread(
    all.map(({ seconds }) => seconds),
    1,
  )} s`
}

function spread(values: number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits))
  const middle = median(values).toFixed(digits)
  return least === most ? middle : `${middle} (${least} to ${most})`
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
