import type { Agent } from 'node:http'
import type { Test } from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { builtCode, type ServiceCode } from './service-code.ts'
import { type ServiceOptions, startService } from './service-process.ts'

/** Creates have no outcome before the process gets SIGUSR2. */
export const heldCreates = `
  create: () => {
    console.log('taken by ' + process.pid)
    return new Promise((resolve) => process.once('SIGUSR2', () => resolve('created')))
  },`

/**
 * Writes a module with a store for a test, and returns its STORE_URL. Creates print which process took them and are
 * kept where `inner` says; `members` is the text of members that replace those of this store.
 */
export function storeWith(t: Test, members = '', inner = 'memory:', { storeModule }: ServiceCode = builtCode): string {
  const path = t.testdir({
    'store.mjs': `
      import { existsSync } from 'node:fs'
      import { openStore } from '${storeModule}'
      const flag = new URL('flag', import.meta.url)
      export const open = async () => {
        const store = await openStore('${inner}')
        return {
          ...store,
          create: (plant) => { console.log('taken by ' + process.pid); return store.create(plant) },
          ${members}
        }
      }`,
  })
  return `module:${path}/store.mjs`
}

/** Variables of a service of two workers whose stdout has only what its store prints. */
export const twoWorkers = { WORKERS: '2', LOG_LEVEL: 'silent' }

/** Starts a service of two workers. */
export async function startWorkers(t: Test, environment: Record<string, string> = {}, options: ServiceOptions = {}) {
  const service = await startService(t, { ...twoWorkers, ...environment }, options)
  /** Sends a create, on a new connection unless an agent is given; resolves with status and Connection of the answer. */
  const create = async (id: number, name = 'a', agent?: Agent) => {
    const { status, headers } = await service.create(JSON.stringify({ id, name }), {}, agent)
    return [status, headers.connection]
  }
  const page = async (path: string) => (await service.page(path)).body
  /** Resolves once a probe of readiness gets an answer that matches. */
  const becomes = async (pattern: RegExp) => {
    let answer = ''
    const matches = async () => {
      answer = await page('/readyz')
      return pattern.test(answer)
    }
    await until(matches, () => `/readyz answers ${pattern}, last: ${JSON.stringify(answer)}`)
  }
  /** Resolves with the ids of both worker processes, once each has taken a create. */
  const pids = async () => {
    let id = -1
    return await until(async () => {
      await create(id--)
      const taken = Array.from(service.output.stdout.matchAll(/^taken by (\d+)$/gm), ([, pid]) => Number(pid))
      const [first, second] = new Set(taken)
      return first !== undefined && second !== undefined && ([first, second] as const)
    }, 'both workers take creates')
  }
  return { ...service, create, page, becomes, pids }
}

/** Resolves once a process has ended. */
export async function untilProcessGone(pid: number): Promise<void> {
  const hasEnded = () => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  }
  await until(hasEnded, `process ${pid} has ended`)
}
