import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Limits } from '../../packages/fastify-contract/src/limits/limits.ts'
import { openFiles } from '../../scripts/system/process-usage.ts'
import { openMemory } from '../../src/store/memory.ts'
import type { StoredPlant } from '../../src/store/plant-store.ts'
import { assertContractResponse } from './contract.ts'
import { builtCode, type ServiceCode } from './service-code.ts'
import { type ServiceProcess, startService } from './service-process.ts'
import { createTestApp } from './test-app.ts'

type Wanted = {
  limits?: Partial<Pick<Limits, 'body' | 'headersTime' | 'requestTime'>>
  /** Milliseconds that the store takes for a write. */
  storeTime?: number
}

/** A service on a memory store, with what wire-level tests need. */
export type WireService = {
  /** Resolves with the port once the service listens. */
  listen(): Promise<number>
  /** Lines of the log from level warn on. */
  log: string[]
  /** Sends a write and checks the response against the contract. */
  create(plant: object): Promise<{ status: number }>
  /** Returns the plants that the store was asked to create since the last call, in order. */
  created(): StoredPlant[]
  /** Resolves with the number of open connections; undefined on a system that does not show it. */
  connections: (() => Promise<number>) | undefined
}

export type StartService = (t: Test, wanted?: Wanted) => Promise<WireService>

/**
 * Runs a suite of wire-level tests twice: on an app in this process, for coverage, and on the bundle in a child
 * process, which is what ships. Tests with equal options share one child process.
 */
export function overTheWire(t: Test, suite: (t: Test, start: StartService) => void): void {
  t.test('the service runs in this process', async (t) => suite(t, startApp))
  t.test('the service runs as the built bundle', async (t) => {
    const { start, stop } = bundleProcesses(t, builtCode)
    suite(t, start)
    // The log is written some time after the response, so a test that checks the log may miss lines.
    t.test('the service has logged nothing and exits at SIGTERM', stop)
  })
}

const startApp: StartService = async (t, { limits = {}, storeTime = 0 } = {}) => {
  const store = openMemory()
  const asked: StoredPlant[] = []
  const create: typeof store.create = (plant) => {
    asked.push(plant)
    return storeTime === 0 ? store.create(plant) : sleep(storeTime).then(() => store.create(plant))
  }
  const { app, ...service } = await createTestApp(t, { store: { ...store, create }, limits })
  const connections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
  return { ...service, created: () => asked.splice(0), connections }
}

const variables = { body: 'BODY_LIMIT', headersTime: 'HEADERS_TIMEOUT', requestTime: 'REQUEST_TIMEOUT' }

function bundleProcesses(t: Test, { command, storeModule }: ServiceCode) {
  const directory = t.testdir({})
  const started = new Map<string, Promise<BundleProcess>>()

  async function startBundle({ limits = {}, storeTime = 0 }: Wanted): Promise<BundleProcess> {
    const file = join(directory, `asked-${started.size}`)
    writeFileSync(file, '')
    const parameters = new URLSearchParams({ module: storeModule, file, time: String(storeTime) })
    const service = await startService(
      t,
      {
        ...Object.fromEntries(
          Object.entries(limits).map(([name, value]) => [variables[name as keyof typeof variables], String(value)]),
        ),
        STORE_URL: `module:${resolve('test/support/recording-store.js')}?${parameters}`,
        // All tests share one address.
        AUTH_FAILURES_PER_MINUTE: '0',
        LOG_LEVEL: 'warn',
        ACCESS_LOG: 'off',
      },
      { command },
    )
    const pid = service.child.pid as number
    return { ...service, file, filesAtStart: existsSync('/proc/self/fd') ? openFiles(pid) : undefined }
  }

  const start: StartService = async (t, wanted = {}) => {
    const key = JSON.stringify(wanted)
    const process = started.get(key) ?? startBundle(wanted)
    started.set(key, process)
    return asWireService(t, await process)
  }

  const stop = async (t: Test) => {
    for (const { banner, stop } of await Promise.all(started.values()))
      t.same(await stop(), { code: 0, signal: null, stdout: '', stderr: banner })
  }
  return { start, stop }
}

type BundleProcess = ServiceProcess & { file: string; filesAtStart: number | undefined }

function asWireService(t: Test, service: BundleProcess): WireService {
  const { port, output, file, filesAtStart } = service
  const [linesBefore, plantsBefore] = [linesOf(output.stdout).length, linesOf(readFileSync(file, 'utf8')).length]
  let plantsSeen = plantsBefore
  return {
    listen: async () => port,
    get log() {
      return linesOf(output.stdout).slice(linesBefore)
    },
    async create(plant) {
      const answer = await service.create(JSON.stringify(plant))
      assertContractResponse(t, { method: 'POST', path: '/plants', ...answer })
      return answer
    },
    created() {
      const all = linesOf(readFileSync(file, 'utf8')).slice(plantsSeen)
      plantsSeen += all.length
      return all.map((line) => JSON.parse(line, objectAsBigint))
    },
    connections:
      filesAtStart === undefined ? undefined : async () => openFiles(service.child.pid as number) - filesAtStart,
  }
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)

const objectAsBigint = (_key: string, value: { bigint?: string } | null) =>
  typeof value?.bigint === 'string' ? BigInt(value.bigint) : value
