import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { openFiles, residentBytes } from '../../scripts/system/process-usage.ts'
import { startService } from '../scenarios/built-service.ts'
import { newClient } from './keep-alive-client.ts'
import { newTally } from './response-tally.ts'
import { tokenCommand } from './token-command.ts'

const limit = 64
/** Rounds, samples of each round, and milliseconds between samples; no descriptor is free during a round. */
const [rounds, samples, sampleInterval] = [3, 10, 100]

/** Without free file descriptors the service keeps serving its open connections; it recovers once some are free. */
export const descriptors: Scenario = {
  title: `a limit of ${limit} open files, and more connections than that`,
  async run(report, { directory }) {
    const path = join(directory, 'tokens.json')
    const token = await tokenCommand(path, 'create', '--name', 'kept')
    const service = await startService(`sqlite:${join(directory, 'plants.db')}`, {
      command: ['bash', '-c', `ulimit -n ${limit}; exec "$0" "$@"`],
      environment: { ACCESS_TOKENS: '', TOKENS_FILE: path },
    })
    const { port, pid } = service
    const kept = newClient(port, token)
    const first = await kept.create()
    const before = { files: openFiles(pid), memory: Math.round(residentBytes(pid) / 2 ** 20) }

    const during = newTally()
    const recoveries: number[] = []
    let most = 0
    for (let round = 0; round < rounds; round++) {
      const sockets = Array.from({ length: 4 * limit }, () => open(port))
      for (let sample = 0; sample < samples; sample++) {
        await sleep(sampleInterval)
        most = Math.max(most, openFiles(pid))
        during.add(await kept.create())
      }
      await Promise.all(sockets.map(close))
      recoveries.push(await recovery(port, token))
    }
    const added = await tokenCommand(path, 'create', '--name', 'added')
    const follows = await recovery(port, added)
    // After the clients left, the service takes a moment to close the connections that it accepted last.
    await holdsWithin(10_000, () => openFiles(pid) <= before.files)
    const left = { files: openFiles(pid), memory: Math.round(residentBytes(pid) / 2 ** 20) }
    kept.close()
    const { code } = await service.stop()

    report.figure('connections at once', 4 * limit)
    report.figure('open files before', before.files)
    report.atLeast('most open files', most, limit - 1)
    report.zero('failures before', first.status === 200 ? 0 : 1)
    report.notZero('200s on the connection kept open', during.counts[200] ?? 0)
    report.zero('failures on the connection kept open', during.failed)
    report.atMost('until a new connection is served again (ms)', Math.round(Math.max(...recoveries)), 1_000)
    report.atMost('until a new token is accepted (ms)', Math.round(follows), 2_000)
    report.zero('increase of open files', Math.max(0, left.files - before.files))
    report.atMost('increase of memory (MB)', left.memory - before.memory, 64)
    report.zero('exit code', code ?? 1)
  },
}

/** Opens a connection that the service may reject or close. */
const open = (port: number): Socket => connect({ port, host: '127.0.0.1' }).on('error', () => {})

/** Returns the time (ms) until a new connection with this token is served; stops trying after 60 s. */
async function recovery(port: number, token: string): Promise<number> {
  for (const start = performance.now(); ; ) {
    const client = newClient(port, token)
    const { status, endedAt } = await client.create()
    client.close()
    if (status === 200 || endedAt > start + 60_000) return endedAt - start
    await sleep(10)
  }
}

function close(socket: Socket): Promise<unknown> {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (socket.closed) return Promise.resolve()
  socket.destroy()
  return closed
}
