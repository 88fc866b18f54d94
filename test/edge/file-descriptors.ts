import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from '../../scripts/system/poll.ts'
import { openFiles, residentBytes } from '../../scripts/system/process-usage.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Scenario } from '../scenarios/scenario-runner.ts'
import { newClient } from './keep-alive-client.ts'
import { newTally } from './response-tally.ts'
import { tokenCommand } from './token-command.ts'

const limit = 64
/** Samples of each round, and milliseconds between them: the service is out of descriptors all the while. */
const [rounds, samples, sampleInterval] = [3, 10, 100]

/** Out of file descriptors the service keeps serving its connections, and recovers when descriptors are free again. */
export const descriptors: Scenario = {
  title: `${limit} open files allowed, and more connections than that`,
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
    // The service closes the connections that it accepted last a moment after their clients left.
    await holdsWithin(10_000, () => openFiles(pid) <= before.files)
    const left = { files: openFiles(pid), memory: Math.round(residentBytes(pid) / 2 ** 20) }
    kept.close()
    const { code } = await service.stop()

    report.figure('connections at once', 4 * limit)
    report.figure('open files before', before.files)
    report.atLeast('open files at most, of the limit', most, limit - 1)
    report.zero('failures before', first.status === 200 ? 0 : 1)
    report.notZero('requests meanwhile on a connection kept', during.counts[200] ?? 0)
    report.zero('of them failed', during.failed)
    report.atMost('until a new connection is served again (ms)', Math.round(Math.max(...recoveries)), 1_000)
    report.atMost('until a new token is accepted (ms)', Math.round(follows), 2_000)
    report.zero('open files more than before', Math.max(0, left.files - before.files))
    report.atMost('memory more than before (MB)', left.memory - before.memory, 64)
    report.zero('exit code', code ?? 1)
  },
}

/** Opens a connection that the service may refuse or close. */
const open = (port: number): Socket => connect({ port, host: '127.0.0.1' }).on('error', () => {})

/** Returns the milliseconds until a new connection with this token is served. */
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
