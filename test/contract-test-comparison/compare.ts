import { type Fault, faults, type ServiceName } from './faults.ts'
import type { Installed } from './install.ts'
import { documentOf, headersOf, startService, variablesOf } from './services.ts'
import type { Finding, Tool, ToolRun } from './tool-run.ts'

/** What a tool did with a fault, one entry for each seed. */
export type Cell = { found: (Finding | undefined)[]; requests: number[]; seconds: number[] }

/** What the tools did: by fault and tool, and what they report of the services without a fault. */
export type Comparison = {
  tools: string[]
  faults: { fault: Fault; cells: Record<string, Cell> }[]
  /** By tool, the texts by key of a service and a finding. */
  alarms: Record<string, Map<string, string>>
}

/** Tests each service without a fault and then with each fault, with each tool and seed. Prints each run to stderr. */
export async function compare(
  tools: Tool[],
  chosen: Fault[],
  seeds: number[],
  installed: Installed,
): Promise<Comparison> {
  const alarms: Comparison['alarms'] = Object.fromEntries(tools.map(({ name }) => [name, new Map()]))
  for (const service of new Set(chosen.map(({ service }) => service)))
    for (const tool of tools)
      for (const seed of seeds)
        for (const { key, text } of (await runOnce(tool, service, '', seed, installed)).findings)
          alarms[tool.name]?.set(`${service} ${key}`, text)
  const rows: Comparison['faults'] = []
  for (const fault of chosen) {
    const cells: Record<string, Cell> = {}
    for (const tool of tools) {
      const cell: Cell = { found: [], requests: [], seconds: [] }
      cells[tool.name] = cell
      for (const seed of seeds) {
        const run = await runOnce(tool, fault.service, fault.name, seed, installed)
        cell.found.push(run.findings.find(({ key }) => !alarms[tool.name]?.has(`${fault.service} ${key}`)))
        cell.requests.push(run.requests)
        cell.seconds.push(run.seconds)
      }
    }
    rows.push({ fault, cells })
  }
  return { tools: tools.map(({ name }) => name), faults: rows, alarms }
}

/** Runs a tool against a new process of a service. */
async function runOnce(
  tool: Tool,
  service: ServiceName,
  fault: string,
  seed: number,
  installed: Installed,
): Promise<ToolRun> {
  const { url, running } = await startService(service, fault, installed)
  try {
    const document = documentOf(service, installed)
    const run = await tool.run({ url, document, headers: headersOf[service], variables: variablesOf[service], seed })
    const said = [service, fault || 'without a fault', tool.name, `seed ${seed}`, `${run.requests} requests`]
    process.stderr.write(`${said.join(', ')}, ${run.seconds.toFixed(1)} s\n`)
    for (const { text } of run.findings) process.stderr.write(`  ${text.replace(/\s+/g, ' ').slice(0, 300)}\n`)
    return run
  } finally {
    await running.stop('SIGKILL')
  }
}

/** Returns the faults of these names, or all if there are none. */
export const faultsOf = (names: string[]): Fault[] =>
  names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name))
