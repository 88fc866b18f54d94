import { readFile, rename, writeFile } from 'node:fs/promises'
import { type Fault, faults, type ServiceName } from './faults.ts'
import type { Installed } from './install.ts'
import { documentOf, headersOf, startService, variablesOf } from './services.ts'
import type { Finding, Tool, ToolRun } from './tool-run.ts'

/** A run of a tool with a fault; '' for the service without one. */
export type RecordedRun = ToolRun & { service: ServiceName; fault: string; tool: string; seed: number }

/** What a tool did with a fault, one entry for each seed. */
export type Cell = { found: (Finding | undefined)[]; requests: number[]; seconds: number[]; bounded: number }

/** What the tools did: by fault and tool, and what they report of the services without a fault. */
export type Comparison = {
  tools: string[]
  faults: { fault: Fault; cells: Record<string, Cell | undefined> }[]
  /** By tool, the texts by key of a service and a finding. */
  alarms: Record<string, Map<string, string>>
}

/** The runs that were made, in a file if there is one, so that an interrupted comparison is continued. */
export class Runs {
  #all: RecordedRun[] = []
  readonly #file: string | undefined

  constructor(file: string | undefined) {
    this.#file = file
  }

  get all(): readonly RecordedRun[] {
    return this.#all
  }

  async load(): Promise<void> {
    const text = this.#file && (await readFile(this.#file, 'utf8').catch(() => undefined))
    if (text) this.#all = JSON.parse(text)
  }

  has(one: Omit<RecordedRun, keyof ToolRun>): boolean {
    return this.#all.some((other) => isSame(one, other))
  }

  async add(one: RecordedRun): Promise<void> {
    this.#all = [...this.#all.filter((other) => !isSame(one, other)), one]
    if (this.#file === undefined) return
    await writeFile(`${this.#file}.new`, JSON.stringify(this.#all))
    await rename(`${this.#file}.new`, this.#file)
  }
}

const isSame = (one: Omit<RecordedRun, keyof ToolRun>, other: RecordedRun): boolean =>
  one.service === other.service && one.fault === other.fault && one.tool === other.tool && one.seed === other.seed

/** What a comparison does. `isAgain` makes runs of the faults again that are there. */
export type Plan = { tools: Tool[]; faults: Fault[]; installed: Installed; isAgain: boolean; signal: AbortSignal }

/**
 * Tests each service without a fault and then with each fault, with each tool and seed, and records the runs. Calls
 * `onFault` after each fault. Prints each run to stderr.
 */
export async function compare(plan: Plan, runs: Runs, onFault: () => Promise<void>): Promise<void> {
  const { tools, faults: chosen, isAgain } = plan
  for (const service of new Set(chosen.map(({ service }) => service)))
    for (const [tool, seed] of each(tools))
      if (!runs.has({ service, fault: '', tool: tool.name, seed }))
        await runs.add(await runOnce(plan, service, '', tool, seed))
  for (const { service, name: fault } of chosen) {
    for (const [tool, seed] of each(tools))
      if (isAgain || !runs.has({ service, fault, tool: tool.name, seed }))
        await runs.add(await runOnce(plan, service, fault, tool, seed))
    await onFault()
  }
}

const each = (tools: Tool[]): [Tool, number][] =>
  tools.flatMap((tool) => tool.seeds.map((seed): [Tool, number] => [tool, seed]))

/** Runs a tool against a new process of a service. */
async function runOnce(
  { installed, signal }: Plan,
  service: ServiceName,
  fault: string,
  tool: Tool,
  seed: number,
): Promise<RecordedRun> {
  signal.throwIfAborted()
  const { url, running } = await startService(service, fault, installed)
  try {
    const document = documentOf(service, installed)
    const credentials = { headers: headersOf[service], variables: variablesOf[service] }
    const run = await tool.run({ url, document, ...credentials, seed, signal })
    const said = [service, fault || 'without a fault', tool.name, `seed ${seed}`, `${run.requests} requests`]
    process.stderr.write(`${said.join(', ')}, ${run.seconds.toFixed(1)} s${run.isBounded ? ', ended' : ''}\n`)
    for (const { text } of run.findings) process.stderr.write(`  ${text.replace(/\s+/g, ' ').slice(0, 300)}\n`)
    return { service, fault, tool: tool.name, seed, ...run }
  } finally {
    await running.stop('SIGKILL')
  }
}

/** Returns what recorded runs show. A finding counts if the tool does not report it without the fault, too. */
export function comparisonOf(runs: readonly RecordedRun[]): Comparison {
  const tools = [...new Set(runs.map(({ tool }) => tool))]
  const alarms: Comparison['alarms'] = Object.fromEntries(tools.map((tool) => [tool, new Map()]))
  for (const { tool, service, fault, findings } of runs)
    for (const { key, text } of fault === '' ? findings : []) alarms[tool]?.set(`${service} ${key}`, text)
  const rows = faults.map(function rowOf(fault) {
    const cells: Record<string, Cell | undefined> = {}
    for (const tool of tools) {
      const of = runs.filter((run) => run.fault === fault.name && run.tool === tool)
      if (of.length === 0) continue
      cells[tool] = {
        found: of.map(({ findings }) => findings.find(({ key }) => !alarms[tool]?.has(`${fault.service} ${key}`))),
        requests: of.map(({ requests }) => requests),
        seconds: of.map(({ seconds }) => seconds),
        bounded: of.filter(({ isBounded }) => isBounded).length,
      }
    }
    return { fault, cells }
  })
  return { tools, faults: rows.filter(({ cells }) => Object.keys(cells).length > 0), alarms }
}

/** Returns the faults of these names, or all if there are none. */
export const faultsOf = (names: string[]): Fault[] =>
  names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name))
