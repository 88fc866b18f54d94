import type { Agent } from 'node:http'
import { until } from 'fastify-contract-test-support/poll'
import type { Test } from 'tap'
import { builtCode, type ServiceCode } from './service-code.ts'
import { type ServiceOptions, startService } from './service-process.ts'

/** Member of a store: writes stay pending until the process gets SIGUSR2. */
export const heldCreates = `
  create: () => {
    console.log('taken by ' + process.pid)
    return new Promise((resolve) => process.once('SIGUSR2', () => resolve('created')))
  },`

/**
 * Writes a store module for a test and returns its STORE_URL. Each create prints its process id and goes to the store
 * at the URL `inner`; `members` is source text that replaces members of the module's store.
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

/** Starts a service whose stdout carries only the output of the store. */
export async function startWithLogOfStore(
  t: Test,
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
) {
  const service = await startService(t, { LOG_LEVEL: 'silent', ...environment }, options)
  /** Sends a write, on a new connection unless an agent is given; resolves with status and Connection header. */
  const create = async (id: number, name = 'a', agent?: Agent) => {
    const { status, headers } = await service.create(JSON.stringify({ id, name }), {}, agent)
    return [status, headers.connection]
  }
  const page = async (path: string) => (await service.page(path)).body
  /** Resolves once the response of /readyz matches. */
  const becomes = async (pattern: RegExp) => {
    let answer = ''
    const matches = async () => {
      answer = await page('/readyz')
      return pattern.test(answer)
    }
    await until(matches, () => `/readyz answers ${pattern}, last: ${JSON.stringify(answer)}`)
  }
  return { ...service, create, page, becomes }
}
