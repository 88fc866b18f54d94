import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { stopListening } from '../http/stop-listening.ts'
import { type ListenAddress, listen } from './listen.ts'
import type { WorkerProcess } from './worker-process.ts'

const ignore = () => {}

export type Distributor = {
  /** Resolves with the URL once it listens. */
  listen(address: ListenAddress): Promise<string>
  /** From now on the worker gets connections, until it has ended. */
  add(worker: WorkerProcess): void
  /** Stops listening; resolves once each connection that was accepted is on its way to a worker. */
  close(): Promise<void>
}

/**
 * Accepts connections and hands them to workers in turn. A worker gets the next one when it has taken the one before,
 * so that a stuck worker keeps one waiting. `node:cluster` cannot do this: it loses the connections that it has accepted
 * when the last worker stops listening.
 *
 * @param limit How many connections may wait; beyond it, and without a worker, a connection is closed at once.
 * @param refused Is told of each connection beyond the limit.
 */
export function distributeConnections(limit: number, refused: () => void): Distributor {
  const workers = new Set<WorkerProcess>()
  const free: WorkerProcess[] = []
  const waiting: Socket[] = []
  /** Is called whenever no connection waits. */
  let handedOver = ignore

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // A client may reset the connection while it waits.
    socket.on('error', ignore)
    waiting.push(socket)
    distribute()
  })
  server.maxConnections = limit
  server.on('drop', refused)

  function distribute(): void {
    if (workers.size === 0) for (const socket of waiting.splice(0)) socket.destroy()
    while (waiting.length > 0 && free.length > 0) void hand(free.shift() as WorkerProcess, waiting.shift() as Socket)
    if (waiting.length === 0) handedOver()
  }

  async function hand(worker: WorkerProcess, socket: Socket): Promise<void> {
    const isTaken = await worker.take(socket)
    // The worker has a descriptor of its own.
    socket.destroy()
    if (!isTaken) return
    free.push(worker)
    distribute()
  }

  return {
    async listen(address) {
      const url = await listen((place) => once(server.listen(place), 'listening'), server, address)
      // A connection that cannot be accepted is no reason to end.
      server.on('error', ignore)
      return url
    },
    add(worker) {
      workers.add(worker)
      free.push(worker)
      void worker.ended.then(() => {
        workers.delete(worker)
        if (free.includes(worker)) free.splice(free.indexOf(worker), 1)
        distribute()
      })
      distribute()
    },
    async close() {
      await stopListening(server)
      await new Promise<void>((resolve) => {
        handedOver = resolve
        distribute()
      })
    },
  }
}
