import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A network between a client and a port of this machine, which can be made to lose what is sent, or to break. */
export async function createTcpProxy(t: Test, port: number) {
  const sockets = new Set<Socket>()
  let answersLost = false
  let delay = 0
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (!answersLost) setTimeout(() => client.write(chunk), delay)
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy()
          upstream.destroy()
        })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  t.teardown(() => {
    server.close()
    breakAll()
  })
  return {
    port: (server.address() as AddressInfo).port,
    breakAll,
    /** Milliseconds by which answers are late. */
    delay(milliseconds: number) {
      delay = milliseconds
    },
    loseAnswers(lost: boolean) {
      answersLost = lost
    },
  }
}
