import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { freePort } from '../system/free-port.ts'
import { processorSeconds, residentBytes, withChildren } from '../system/process-usage.ts'
import { isReady, post } from './acceptance.ts'
import type { Contender } from './contenders.ts'
import { onServerCore } from './pinning.ts'

export const token = newToken()

export type ContenderProcess = {
  port: number
  managementPort: number
  /** Milliseconds from spawn to the first response; with `untouched`, to that of `/readyz`. */
  startTime: number
  /** Returns the CPU seconds that all threads of the process have used so far. */
  cpu(): number
  /** Returns the seconds for which the main threads of the process were runnable but had no core. */
  waited(): number
  /** Returns the resident memory in bytes, with shared pages counted for each process. */
  memory(): number
  /** Sends SIGKILL and resolves when the process has ended. */
  stop(): Promise<void>
}

export type StartOptions = {
  /** Whether the contender runs on the server's core. */
  pinned: boolean
  /** Whether to wait for `/readyz`, which only this service has, so that the load sends the first request. */
  untouched?: boolean
}

/**
 * Starts a contender in a new process and resolves after its first response. The output of the process, such as an
 * access log, goes to /dev/null. Rejects if that response is not a 200, if the process ends before it, or after 60 s.
 */
export async function startServer(
  contender: Contender,
  { pinned, untouched = false }: StartOptions,
): Promise<ContenderProcess> {
  const [port, managementPort] = [await freePort(), await freePort()]
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(port),
    ACCESS_TOKENS: token,
    DOCUMENT: 'generated/openapi.json',
    ...(contender.store !== undefined && {
      MANAGEMENT_PORT: String(managementPort),
      STORE_URL: await contender.store(),
      ACCESS_LOG: contender.accessLog ? 'on' : 'off',
    }),
  }
  const command = [process.execPath, ...contender.args]
  const [file = '', ...args] = pinned ? onServerCore(command) : command
  const start = performance.now()
  const child = spawn(file, args, { env: environment, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  while (!(await (untouched ? isReady(managementPort) : isResponding()))) {
    if (performance.now() - start > 60_000) throw new Error(`${contender.name}: no response within 60 s`)
    if (child.exitCode !== null) throw new Error(`${contender.name}: exited with ${child.exitCode} before it responded`)
    await sleep(1)
  }
  const sumOf = (figure: (pid: number) => number) =>
    withChildren(child.pid as number).reduce((sum, pid) => sum + figure(pid), 0)
  async function isResponding(): Promise<boolean> {
    const response = await post(port, token, '{"id":-1,"name":"first"}')
    if (response === undefined || response.status === 200) return response !== undefined
    throw new Error(`${contender.name}: the first response is ${response.status}: ${response.text}`)
  }
  return {
    port,
    managementPort,
    startTime: performance.now() - start,
    cpu: () => sumOf(processorSeconds),
    waited: () => sumOf(secondsWaited),
    memory: () => sumOf(residentBytes),
    async stop() {
      process.off('exit', kill)
      kill()
      await ended
    },
  }
}

/** Returns the seconds on the run queue: the second number of /proc/PID/schedstat, which is in nanoseconds. */
function secondsWaited(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e9
}
