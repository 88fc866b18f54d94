import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { openFiles, peakResidentBytes } from '../../scripts/system/process-usage.ts'
import { startService, token } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import { hostileRequests } from './hostile-requests.ts'

const connections = 500

/** Size of the old space (MB): Node's default in a container with 512 MB. */
const heap = 256

/** Milliseconds of the attack, and the timeout of a client, after which it sends the next request. */
const duration = 30_000
const patience = 15_000

/** Bodies designed to use memory must neither crash the service nor make it exceed its container. */
export const bodies: Scenario = {
  title: `${connections} connections that send the most expensive bodies, on a heap of ${heap} MB`,
  async run(report) {
    const issuer = createServer(() => {}).listen(0, '127.0.0.1')
    await once(issuer, 'listening')
    const issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
    const service = await startService('memory:', {
      environment: {
        NODE_OPTIONS: `--max-old-space-size=${heap}`,
        JWT_ISSUER: issuerUrl,
        JWT_AUDIENCE: 'plants',
        JWT_JWKS_URL: `${issuerUrl}/keys`,
        AUTH_FAILURES_PER_MINUTE: '0',
      },
    })
    const idleFiles = openFiles(service.pid)
    const healthy = startClosedLoad({ port: service.port, token, clients: 4, refused: 'wait', pause: 20 })
    const kinds = Object.entries(hostileRequests(issuerUrl))
    const end = performance.now() + duration
    const statuses: Record<string, Record<string, number>> = {}
    const attack = async (index: number) => {
      const [kind, make] = kinds[index % kinds.length] as [string, () => Buffer[]]
      const counts = statuses[kind] ?? {}
      statuses[kind] = counts
      while (performance.now() < end) {
        const status = await send(service.port, make())
        counts[status] = (counts[status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: connections }, (_, index) => attack(index)))
    const peak = peakResidentBytes(service.pid)
    await healthy.stop()
    const ended = performance.now()
    // The kernel still buffers what disconnected clients sent, and the service spends 0.6 µs on each one-byte chunk.
    await until(() => openFiles(service.pid) <= idleFiles, 'the end of all connections', 120_000)
    const backlog = performance.now() - ended
    const { code } = await service.stop()
    issuer.close().closeAllConnections()

    for (const [kind, counts] of Object.entries(statuses)) report.figure(kind, JSON.stringify(counts))
    report.figure('until all connections were closed (ms)', Math.round(backlog))
    report.zero('exit code', code ?? -1)
    report.atMost('peak of resident memory (MB)', Math.round(peak / 1e6), 512)
    report.notZero('healthy requests', healthy.tally.counts[200] ?? 0)
    report.figure('healthy requests rejected with 503', healthy.tally.counts[503] ?? 0)
    report.figure('p50 of healthy requests (ms)', healthy.tally.percentile(50))
    report.figure('p99 of healthy requests (ms)', healthy.tally.percentile(99))
    report.zero('healthy requests that failed otherwise', healthy.tally.failed - (healthy.tally.counts[503] ?? 0))
  },
}

/** Sends a request on a new connection; resolves with the status of the response, or the reason why there is none. */
async function send(port: number, parts: Buffer[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const status = new Promise<string>((resolve) => {
    socket.once('data', (answer) => resolve(answer.toString('latin1').slice(9, 12)))
    socket
      .once('error', ({ message }) => resolve(message.split(' ').at(-1) as string))
      .once('close', () => resolve('closed'))
  })
  for (const part of parts) socket.write(part)
  const outcome = await Promise.race([status, sleep(patience, 'none')])
  socket.destroy()
  // Without a pause, immediate rejections would take all CPU time of this process.
  await sleep(100)
  return outcome
}
