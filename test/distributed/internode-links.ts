import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** The port on which nodes of a cluster listen for each other. */
const port = 7000

/** Offset of the sender's IPv4 address in the first message of a connection, after magic number, flags and length. */
const senderAt = 9

/** Returns whether what one node sends to another node is held back. The nodes are given by their address for others. */
type Cut = (from: string, to: string) => boolean

/** A proxy before each node, so that nodes can be kept apart from each other, but not from their clients. */
export type InternodeLinks = {
  /** Holds back what `isCut` selects until the next call. Then it arrives late, as TCP delivers after an outage. */
  cut(isCut: Cut): void
  close(): void
}

/** Opens a proxy at the address that other nodes use, `to`, which leads to the address where a node listens. */
export async function openInternodeLinks(nodes: { to: string; listen: string }[]): Promise<InternodeLinks> {
  const sockets = new Set<Socket>()
  let isCut: Cut = () => false

  const servers = nodes.map(({ to, listen }) =>
    createServer({ noDelay: true }, (sender) => {
      const receiver = connect({ port, host: listen, noDelay: true })
      sockets.add(sender)
      let from: string | undefined
      // A node sends its messages on connections of its own, so the other direction has only answers to handshakes.
      sender.on('data', (chunk) => {
        from ??= chunk.subarray(senderAt, senderAt + 4).join('.')
        if (isCut(from, to)) sender.pause().unshift(chunk)
        else receiver.write(chunk)
      })
      receiver.pipe(sender)
      receiver.on('error', () => {}).on('close', () => sender.destroy())
      sender
        .on('error', () => {})
        .on('close', () => {
          receiver.destroy()
          sockets.delete(sender)
        })
    }).listen(port, to),
  )
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return {
    cut(next) {
      isCut = next
      for (const socket of sockets) socket.resume()
    },
    close() {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
