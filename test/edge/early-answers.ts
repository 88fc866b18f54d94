import { execFile, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from 'fastify-contract-test-support/free-port'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { startService, token } from '../scenarios/built-service.ts'
import { type Kind, type ProxyProgram, proxies, start, unbufferedNginx } from './proxies/proxies.ts'

/** Requests of each client to each proxy, for each upload; and how many of them must see the status. */
const [tries, required] = [50, 47]

const uploads = [
  { name: '401, 1 kB', status: '401', token: 'unknown-token', bytes: 1_000 },
  { name: '401, 100 kB', status: '401', token: 'unknown-token', bytes: 100_000 },
  { name: '401, 300 kB', status: '401', token: 'unknown-token', bytes: 300_000 },
  { name: '401, 1 MB', status: '401', token: 'unknown-token', bytes: 1_000_000 },
  { name: '401, 8 MB', status: '401', token: 'unknown-token', bytes: 8_000_000 },
  { name: '413, 8 MB', status: '413', token, bytes: 8_000_000 },
]

type Upload = (typeof uploads)[number]

const file = (name: string) => resolve('test/edge/early-answer-clients', name)

/** A client: the command that shows that its program is there, and the command that runs it. */
type Client = {
  name: string
  probe: string[]
  build?: (directory: string) => string[]
  command(directory: string): string[]
}

const python = process.env.PYTHON ?? 'python3'

const clients: Client[] = [
  { name: 'fetch', probe: ['node', '--version'], command: () => ['node', file('fetch.js')] },
  { name: 'urllib', probe: [python, '--version'], command: () => [python, file('urllib_client.py')] },
  { name: 'requests', probe: [python, '-c', 'import requests'], command: () => [python, file('requests_client.py')] },
  {
    name: 'go',
    probe: ['go', 'version'],
    build: (directory) => ['go', 'build', '-o', join(directory, 'client'), file('client.go')],
    command: (directory) => [join(directory, 'client')],
  },
  { name: 'java', probe: ['java', '--version'], command: () => ['java', file('Client.java')] },
]

/** The ways to the service: direct, and through each proxy. */
const ways: { name: string; proxy?: ProxyProgram; kind: Kind }[] = [
  { name: 'direct', kind: 'default' },
  ...[...proxies, unbufferedNginx].map((proxy) => ({ name: proxy.name, proxy, kind: 'default' as const })),
  ...proxies.map((proxy) => ({ name: `${proxy.name}, as on the page`, proxy, kind: 'recommended' as const })),
]

/** Milliseconds in which the health checks of a proxy find the service. */
const settling = 1_500

/** Clients that are rejected while they still send see the status, directly and through proxies. */
export const early: Scenario = {
  title: `the status of a rejected upload reaches clients, directly and through proxies, in ${required} of ${tries} tries`,
  async run(report, { directory }) {
    // Some proxies drop their privileges before they use their directory.
    chmodSync(directory, 0o755)
    const present = clients.filter(({ name, probe }) => isThere(report, name, probe))
    for (const { build } of present) if (build !== undefined) check(build(directory))
    const managementPort = await freePort()
    const environment = { AUTH_FAILURES_PER_MINUTE: '0', MANAGEMENT_PORT: String(managementPort) }
    const service = await startService('memory:', { environment })
    const instance = { port: service.port, managementPort }
    for (const { name, proxy: given, kind } of ways) {
      const program = await given?.program(directory)
      if (given !== undefined && program === undefined) {
        report.notRun(name)
        continue
      }
      const proxy =
        given === undefined || program === undefined
          ? { port: service.port, stop: async () => {} }
          : await start(given, { program, kind, instances: [instance, instance], directory })
      await sleep(settling)
      for (const upload of uploads)
        for (const client of present) {
          const answers = await send(client.command(directory), proxy.port, upload)
          const seen = answers[upload.status] ?? 0
          const { [upload.status]: _seen, ...others } = answers
          const title = `${name}: ${client.name}: ${upload.name}`
          // A proxy that loses the status by default, or always as Squid does, is a fact that the page tells.
          if (given === undefined || (kind === 'recommended' && given.name !== 'Squid'))
            report.atLeast(title, seen, required)
          else report.figure(title, seen)
          for (const [answer, count] of Object.entries(others)) report.figure(`  ${answer}`, count)
        }
      await proxy.stop()
    }
    await service.stop()
  },
}

function isThere(report: Report, name: string, [program = '', ...words]: string[]): boolean {
  const isFound = spawnSync(program, words).status === 0
  if (!isFound) report.notRun(name)
  return isFound
}

function check([program = '', ...words]: string[]): void {
  const { status, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const run = promisify(execFile)

/** Runs a client, and counts the statuses and errors that it prints. */
async function send([program = '', ...words]: string[], port: number, upload: Upload): Promise<Record<string, number>> {
  const given = [`http://127.0.0.1:${port}/plants`, upload.token, String(upload.bytes), String(tries)]
  const { stdout } = await run(program, [...words, ...given], { timeout: 600_000 })
  const counts: Record<string, number> = {}
  for (const line of stdout.trim().split('\n')) counts[line] = (counts[line] ?? 0) + 1
  return counts
}
