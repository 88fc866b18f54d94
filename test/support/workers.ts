import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { defaults, run } from './process.ts'
import { token } from './service.ts'

const storeModule = new URL('../../src/store/open.ts', import.meta.url)

/**
 * Takes what a store of a test does otherwise, as text of an object's members; gives the STORE_URL of one whose creates
 * tell on stdout which process took them, and are kept where `inner` says.
 */
export function storeWith(t: Test, members = '', inner = 'memory:'): string {
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

/** A service of two workers, with what asks it on a new connection each time. */
export async function startWorkers(t: Test, environment: Record<string, string> = {}) {
  const server = run(t, 'src/server.ts', { ACCESS_TOKENS: token, WORKERS: '2', LOG_LEVEL: 'silent', ...environment })
  const [line, url = '', management = ''] = await server.find('stderr', /^plant-store .* on (\S+), .* on (\S+)\n/)
  const create = (id: number, name = 'a', agent: Agent | false = false) => createAt(url, id, name, agent)
  const page = async (path: string) => await (await fetch(`${management}${path}`)).text()
  const readyz = () => page('/readyz')
  /** Resolves when a probe is told so. */
  const becomes = async (pattern: RegExp) => {
    while (!pattern.test(await readyz())) await sleep(20)
  }
  const pids = async () => {
    const taken = new Set<number>()
    for (let id = 0; taken.size < 2; id++) {
      await create(-1 - id)
      for (const [, pid] of server.output.stdout.matchAll(/^taken by (\d+)$/gm)) taken.add(Number(pid))
    }
    return [...taken] as [number, number]
  }
  return { ...server, line, url, create, page, readyz, becomes, pids }
}

/** Sends a create; gives status and Connection of its answer. */
export function createAt(url: string, id: number, name: string, agent: Agent | false): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request(`${url}/plants`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve([answer.statusCode as number, answer.headers.connection as string]))
    })
    sent.on('error', reject).end(JSON.stringify({ id, name }))
  })
}

/** Resolves when a process has ended. */
export async function gone(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0)
      await sleep(20)
    }
  } catch {}
}

/** A service of two workers in a process group of its own, once its output has what a pattern finds. */
export async function startGroup(t: Test, STORE_URL: string, pattern = / on (\S+), store /) {
  const env = { ...process.env, ...defaults, ACCESS_TOKENS: token, WORKERS: '2', LOG_LEVEL: 'silent', STORE_URL }
  const child = spawn(process.execPath, [...process.execArgv, 'src/server.ts'], { env, detached: true })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  while (!pattern.test(output)) await sleep(20)
  return { child, ended, url: pattern.exec(output)?.[1] as string, stdout: () => output }
}
