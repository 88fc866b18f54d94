import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { startClosingInstances, startMatrixInstance } from './matrix-service.ts'
import { type Kind, type ProxyProgram, proxies, start } from './proxies.ts'
import { proxyPage } from './proxy-page.ts'
import { closedRequests, closedReuse, compressed, downCheck, requestChecks } from './request-checks.ts'
import { streamChecks } from './stream-checks.ts'

/** The verdicts on a proxy, by the names of the behaviors. */
type Verdicts = Record<string, string>

/** Milliseconds in which the health checks of a configuration find its instances. */
const settling = 1_500

const down = 'no instance runs'
const compression = 'compression of a response with a digest as its tag'

/** Each proxy behaves as the page says, by default and with the configuration of the page. */
export const matrix: Scenario<{ write: boolean }> = {
  title: 'what each proxy of docs/proxies.md does, by default and with the configuration of the page',
  async run(report, { directory, write }) {
    chmodSync(directory, 0o755)
    const columns = new Map<string, Verdicts>()
    for (const proxy of proxies) {
      const program = await proxy.program(directory)
      if (program === undefined) report.notRun(proxy.name)
      else
        columns.set(
          `${proxy.name.replace(/ .*/, '')} ${versionOf(proxy, program)}`,
          await verdictsOn(proxy, program, directory),
        )
    }
    const table = tableOf(columns)
    process.stdout.write(`\n${table}\n`)
    if (write) writeTable(table)
    else compare(report, columns)
  },
}

function versionOf({ name, version: [argument, pattern] }: ProxyProgram, program: string): string {
  const { stdout, stderr } = spawnSync(program, [argument], { encoding: 'utf8' })
  const [, version] = pattern.exec(stdout + stderr) ?? []
  if (version === undefined) throw new Error(`${name} prints no version for ${argument}`)
  return version
}

/** Returns the verdicts on a proxy; an arrow separates that on its default from that on the configuration of the page. */
async function verdictsOn(proxy: ProxyProgram, program: string, directory: string): Promise<Verdicts> {
  const [before, after] = [
    await verdictsOf(proxy, { program, directory, kind: 'default' }),
    await verdictsOf(proxy, { program, directory, kind: 'recommended' }),
  ]
  const verdicts = Object.keys(before).map((name) => [
    name,
    before[name] === after[name] ? before[name] : `${before[name]} → ${after[name]}`,
  ])
  const compressing =
    proxy.compressing && (await withInstances(proxy, { program, directory, kind: 'compressing' }, compressed))
  return { ...Object.fromEntries(verdicts), [compression]: compressing ?? '–' }
}

type Given = { program: string; directory: string; kind: Kind }

type Target = Parameters<typeof compressed>[0]

async function withInstances<T>(proxy: ProxyProgram, given: Given, use: (target: Target) => Promise<T>): Promise<T> {
  const instances: Target['instances'] = [await startMatrixInstance(), await startMatrixInstance()]
  const { port, stop } = await start(proxy, { ...given, instances })
  await sleep(settling)
  const result = await use({ port, instances })
  await stop()
  await Promise.all(instances.map((instance) => instance.stop()))
  return result
}

async function verdictsOf(proxy: ProxyProgram, given: Given): Promise<Verdicts> {
  const verdicts = await withInstances(proxy, given, async (target) => {
    const found: Verdicts = {}
    for (const [name, check] of Object.entries({ ...requestChecks, ...streamChecks })) found[name] = await check(target)
    await Promise.all(target.instances.map((instance) => instance.stop()))
    found[down] = await downCheck(target)
    return found
  })
  const closing = await startClosingInstances()
  const { port, stop } = await start(proxy, { ...given, instances: closing })
  await sleep(settling)
  for (const [name, request] of Object.entries(closedRequests))
    verdicts[name] = await closedReuse(port, closing[0], request)
  await stop()
  for (const instance of closing) instance.stop()
  return verdicts
}

function tableOf(columns: Map<string, Verdicts>): string {
  const [first = {}] = columns.values()
  const row = (cells: string[]) => `| ${cells.join(' | ')} |\n`
  return [
    row(['', ...columns.keys()]),
    row(Array(columns.size + 1).fill('---')),
    ...Object.keys(first).map((name) => row([name, ...[...columns.values()].map((verdicts) => verdicts[name] ?? '')])),
  ].join('')
}

const section = /(?<=<!-- matrix -->\n\n)(.*?)(?=\n<!-- \/matrix -->)/s

function writeTable(table: string): void {
  const page = readFileSync(proxyPage, 'utf8')
  writeFileSync(
    proxyPage,
    page.replace(section, () => table),
  )
}

/** Requires the verdicts of the page, for the proxies of which this machine has the version of the page. */
function compare(report: Report, columns: Map<string, Verdicts>): void {
  const [table = ''] = section.exec(readFileSync(proxyPage, 'utf8')) ?? []
  const [header = [], , ...rows] = table.split('\n').map((line) => line.slice(2, -2).split(' | '))
  for (const [column, verdicts] of columns) {
    const at = header.indexOf(column)
    const differing = rows.filter(([name = '', ...cells]) => name !== '' && cells[at - 1] !== verdicts[name])
    for (const [name = '', ...cells] of differing)
      if (at !== -1) report.figure(`${column}: ${name}: ${cells[at - 1]}`, String(verdicts[name]))
    if (at === -1) report.figure(`${column}: not on the page`, '')
    else report.zero(`${column}: verdicts that differ from the page`, differing.length)
  }
}
