import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { stopListening } from '../http/stop-listening.ts'
import { type ListenAddress, listen } from './listen.ts'
import type { WorkerProcess } from './worker-process.ts'

const ignore = () => {}

export type Distributor = {
  /** Starts listening and resolves with the URL. */
  listen(address: ListenAddress): Promise<string>
  /** Passes connections to a worker until it exits. */
  add(worker: WorkerProcess): void
  /** Stops listening. Resolves once every accepted connection has been passed to a worker. */
  close(): Promise<void>
}

/**
 * Accepts connections and passes them to workers in turn. A worker gets the next one after it has received the previous
 * one, so a stuck worker delays only one connection. `node:cluster` cannot replace this: it loses accepted connections
 * when the last worker stops listening.
 *
 * @param limit The maximum number of open connections. Further ones are closed at once. Without a running worker, all
 * connections are closed at once.
 * @param onRefused Called for each connection above the limit.
 */
export function distributeConnections(limit: number, onRefused: () => void): Distributor {
  const workers = new Set<WorkerProcess>()
  const free: WorkerProcess[] = []
  const waiting: Socket[] = []
  /** Called whenever no connection waits for a worker. */
  let onNoneWaiting = ignore

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // The client may reset the connection while it waits for a worker.
    socket.on('error', ignore)
    waiting.push(socket)
    distribute()
  })
  server.maxConnections = limit
  server.on('drop', onRefused)

  function distribute(): void {
    if (workers.size === 0) for (const socket of waiting.splice(0)) socket.destroy()
    while (waiting.length > 0 && free.length > 0) void pass(free.shift() as WorkerProcess, waiting.shift() as Socket)
    if (waiting.length === 0) onNoneWaiting()
  }

  async function pass(worker: WorkerProcess, socket: Socket): Promise<void> {
    const isAlive = await worker.passConnection(socket)
    // The worker has its own descriptor of the connection.
    socket.destroy()
    if (!isAlive) return
    free.push(worker)
    distribute()
  }

  return {
    async listen(listenAddress) {
      const url = await listen((address) => once(server.listen(address), 'listening'), server, listenAddress)
      // A failure to accept a connection must not end the process.
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
        onNoneWaiting = resolve
        distribute()
      })
    },
  }
}
