import { table } from '../../scripts/benchmark/report.ts'
import type { Cell, Comparison } from './compare.ts'

/**
 * Returns the tables of a comparison: the faults, the totals, and what the tools report of the faultless services. The
 * ratios are those of the other tools to the first one.
 */
export function comparisonText({ tools, faults, alarms }: Comparison, conditions: string): string {
  const rows = faults.map(({ fault, cells }) => [
    `${fault.service}: ${fault.text}`,
    ...tools.map((tool) => foundText(cells[tool])),
  ])
  const [first = ''] = tools
  const cellsOf = (tool: string) => faults.flatMap(({ cells }) => cells[tool] ?? [])
  /** Returns the seconds until the faults were found that this tool and the first one found. */
  const untilFound = (tool: string, of: string) =>
    sum(faults.map(({ cells }) => (isFound(cells[tool]) && isFound(cells[first]) ? secondsToFind(cells[of]) : 0)))
  const wholeRuns = (tool: string) => sum(cellsOf(tool).map(({ seconds }) => median(seconds)))
  const wholeRatio = (tool: string) => {
    const both = faults.filter(({ cells }) => cells[tool] && cells[first])
    const secondsOf = (of: string) => sum(both.map(({ cells }) => median(cells[of]?.seconds ?? [])))
    return ratioText(secondsOf(tool), secondsOf(first))
  }
  const missedByFirst = (tool: string) =>
    faults.filter(({ cells }) => isFound(cells[tool]) && cells[first]?.found.includes(undefined))
  const foundByFirstOnly = (tool: string) =>
    faults.filter(({ cells }) => isFound(cells[first]) && cells[tool] && !isFound(cells[tool]))
  const count = (tool: string, test: (cell: Cell) => boolean) =>
    `${cellsOf(tool).filter(test).length} of ${cellsOf(tool).length}`
  const row = (name: string, textOf: (tool: string) => string): string[] => [name, ...tools.map(textOf)]
  const totals = [
    row('found with every seed', (tool) => count(tool, ({ found }) => !found.includes(undefined))),
    row('found with a seed', (tool) => count(tool, isFound)),
    row(`found, but not by ${first} with every seed`, (tool) => other(tool, () => missedByFirst(tool).length)),
    row(`not found, but by ${first}`, (tool) => other(tool, () => foundByFirstOnly(tool).length)),
    row('failures of the faultless services', (tool) => String(alarms[tool]?.size ?? 0)),
    row('requests of whole runs', (tool) => String(sum(cellsOf(tool).map(({ requests }) => median(requests))))),
    row('seconds of whole runs', (tool) => wholeRuns(tool).toFixed(0)),
    row('ratio', (tool) => other(tool, () => wholeRatio(tool))),
    row('seconds until found, of what both find', (tool) => untilFound(tool, tool).toFixed(1)),
    row('ratio', (tool) => other(tool, () => ratioText(untilFound(tool, tool), untilFound(tool, first)))),
    row('runs that were ended at their bound', (tool) => String(sum(cellsOf(tool).map(({ bounded }) => bounded)))),
  ]
  const list = tools.flatMap((tool) =>
    Array.from(alarms[tool]?.keys() ?? [], (key) => `- ${tool}: \`${key.replaceAll('`', '')}\``),
  )
  const parts = [conditions, table([['fault', ...tools], ...rows]), table([['', ...tools], ...totals])]
  if (list.length > 0) parts.push(['Failures of the faultless services:', '', ...list].join('\n'))
  return parts.join('\n\n')

  function other(tool: string, textOf: () => string | number): string {
    return tool === first ? '' : String(textOf())
  }
}

const isFound = (cell: Cell | undefined): boolean => cell?.found.some((one) => one !== undefined) ?? false

const secondsToFind = (cell: Cell | undefined): number =>
  median((cell?.found ?? []).flatMap((one) => one?.seconds ?? []))

const ratioText = (one: number, other: number): string => (other === 0 ? '' : (one / other).toFixed(1))

/** Returns how often a fault was found, and the medians and spreads until then. */
function foundText(cell: Cell | undefined): string {
  if (cell === undefined) return 'not measured'
  const { found, bounded } = cell
  const end = bounded > 0 ? ` (${bounded} ended at the bound)` : ''
  const all = found.filter((one) => one !== undefined)
  if (all.length === 0) return `not found${end}`
  const share = all.length < found.length ? `${all.length} of ${found.length}: ` : ''
  const requests = spread(
    all.map(({ requests }) => requests),
    0,
  )
  const seconds = spread(
    all.map(({ seconds }) => seconds),
    1,
  )
  return `${share}${requests} requests, ${seconds} s${end}`
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

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
