import type { SpawnOptions } from 'node:child_process'
import type { Agent } from 'node:http'
import { type RunningProcess, spawnProcess } from 'fastify-contract-test-support/child-process'
import { type HttpResponse, httpRequest } from 'fastify-contract-test-support/http-request'
import type { Test } from 'tap'
import { builtCode } from './service-code.ts'
import { authorization, token } from './test-app.ts'

export type ServiceOptions = Pick<SpawnOptions, 'cwd' | 'stdio' | 'detached'> & {
  /** The command to run; default: `builtCode`. It may start with a wrapper such as strace. */
  command?: string[]
}

/** A service that may not serve yet. */
export type StartingService = RunningProcess & {
  /** Resolves once the service serves; rejects with its output when it ends before or is late. */
  serving(): Promise<ServiceProcess>
}

/** The facts in the line that the service writes to stderr once it serves. */
type Banner = { version: string; url: string; port: number; storeUrl: string; managementUrl: string }

export type ServiceProcess = RunningProcess &
  Banner & {
    /** The whole line. */
    banner: string
    /** Sends a request with the tests' token and, if any, a JSON body; on a new connection unless an agent is given. */
    call(method: string, target: string, sent?: Sent): Promise<HttpResponse>
    /** Sends a write with JSON text and the tests' token, on a new connection unless an agent is given. */
    create(body: string, headers?: Record<string, string>, agent?: Agent): Promise<HttpResponse>
    /** Resolves with the generated token, which has every scope; there is one only when ACCESS_TOKENS is empty. */
    generatedToken(): Promise<string>
    /** Fetches a page of the admin server. */
    page(path: string): Promise<HttpResponse>
  }

type Sent = { headers?: Record<string, string>; body?: string; agent?: Agent | false }

const bannerPattern = /^plant-store (\S+) on (http:\/\/\S+:(\d+)), store (.*), admin server on (http:\/\/\S+)\n/m

/**
 * Starts the service in a child process, on free loopback ports, with the tests' token and defaults. The child is
 * killed when this process exits.
 */
export function spawnService(environment: Record<string, string> = {}, options: ServiceOptions = {}): StartingService {
  const { command = builtCode.command, ...rest } = options
  const running = spawnProcess(command, { ...rest, env: { ACCESS_TOKENS: token, ...environment } })

  async function serving(): Promise<ServiceProcess> {
    const [banner, version = '', url = '', port, storeUrl = '', managementUrl = ''] = await running.find(
      'stderr',
      bannerPattern,
    )
    const call = (method: string, target: string, { headers = {}, body, agent = false }: Sent = {}) => {
      const all = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
      return httpRequest(url + target, { method, headers: all, agent, ...(body !== undefined && { body }) })
    }
    const create = (body: string, headers: Record<string, string> = {}, agent: Agent | false = false) =>
      call('POST', '/plants', { body, headers, agent })
    const generatedToken = async () => (await running.find('stderr', /generated token (\S+)\n/))[1] as string
    const page = (path: string) => httpRequest(managementUrl + path)
    const said = { banner, version, url, port: Number(port), storeUrl, managementUrl }
    return { ...running, ...said, call, create, generatedToken, page }
  }

  return { ...running, serving }
}

/** Starts the service as `spawnService` does and resolves once it serves; kills it when the test ends. */
export async function startService(
  t: Test,
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<ServiceProcess> {
  const service = spawnService(environment, options)
  t.teardown(() => service.signal('SIGKILL'))
  return await service.serving()
}
