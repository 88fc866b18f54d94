import type { SpawnOptions } from 'node:child_process'
import type { Agent } from 'node:http'
import type { Test } from 'tap'
import { type RunningProcess, spawnProcess } from './child-process.ts'
import { type HttpResponse, httpRequest } from './http-request.ts'
import { builtCode } from './service-code.ts'
import { authorization, token } from './test-app.ts'

export type ServiceOptions = Pick<SpawnOptions, 'cwd' | 'stdio' | 'detached'> & {
  /** What is run as the service; default: `builtCode`. A program that runs another, such as strace, may come first. */
  command?: string[]
}

/** A service that need not serve yet. */
export type StartingService = RunningProcess & {
  /** Resolves once it serves; rejects with what it has written when it ends before, or is late. */
  serving(): Promise<ServiceProcess>
}

/** What the line says that the service writes to stderr once it serves. */
type Banner = { version: string; workers: number; url: string; port: number; storeUrl: string; managementUrl: string }

export type ServiceProcess = RunningProcess &
  Banner & {
    /** The whole line. */
    banner: string
    /** Sends a request with the token of the tests, on a connection of its own unless an agent is given; its body is JSON. */
    call(method: string, target: string, sent?: Sent): Promise<HttpResponse>
    /** Sends a create with JSON text and the token of the tests, on a connection of its own unless an agent is given. */
    create(body: string, headers?: Record<string, string>, agent?: Agent): Promise<HttpResponse>
    /** Resolves with the token that it made, which has every scope of the document; only with ACCESS_TOKENS empty. */
    generatedToken(): Promise<string>
    /** Gets a page of the management. */
    page(path: string): Promise<HttpResponse>
  }

type Sent = { headers?: Record<string, string>; body?: string; agent?: Agent | false }

const bannerPattern =
  /^plant-store (\S+)(?: by (\d+) workers)? on (http:\/\/\S+:(\d+)), store (.*), management on (http:\/\/\S+)\n/m

/**
 * Starts the service in a process of its own, which this one does not outlive: on free ports of the loopback address,
 * with the token and the defaults of the tests.
 */
export function spawnService(environment: Record<string, string> = {}, options: ServiceOptions = {}): StartingService {
  const { command = builtCode.command, ...rest } = options
  const running = spawnProcess(command, { ...rest, env: { ACCESS_TOKENS: token, ...environment } })

  async function serving(): Promise<ServiceProcess> {
    const [banner, version = '', workers = '1', url = '', port, storeUrl = '', managementUrl = ''] = await running.find(
      'stderr',
      bannerPattern,
    )
    const call = (method: string, target: string, { headers = {}, body, agent = false }: Sent = {}) => {
      const all = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
      return httpRequest(url + target, { method, headers: all, agent, ...(body !== undefined && { body }) })
    }
    const create = (body: string, headers: Record<string, string> = {}, agent: Agent | false = false) =>
      call('POST', '/plants', { body, headers, agent })
    const generatedToken = async () => (await running.find('stderr', /accepts the token (\S+)\n/))[1] as string
    const page = (path: string) => httpRequest(managementUrl + path)
    const said = { banner, version, workers: Number(workers), url, port: Number(port), storeUrl, managementUrl }
    return { ...running, ...said, call, create, generatedToken, page }
  }

  return { ...running, serving }
}

/** Starts the service as `spawnService` does, killed when the test ends; resolves once it serves. */
export async function startService(
  t: Test,
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<ServiceProcess> {
  const service = spawnService(environment, options)
  t.teardown(() => service.signal('SIGKILL'))
  return await service.serving()
}
