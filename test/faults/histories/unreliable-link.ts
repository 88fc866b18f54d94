import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../seeded-random.ts'

/** Faults of a network. */
export const linkFaults = ['requests lost', 'answers lost', 'delay', 'reset'] as const
export type LinkFault = (typeof linkFaults)[number]

/** Maximum delay of a chunk (ms). */
const longestDelay = 300

/** A network link between clients and one port of this machine. */
export type Link = {
  /** The port for clients. */
  port: number
  /** Sets the target port of new connections; until the first call, connections fail. */
  lead(port: number): void
  /** Applies a fault for `duration` (ms); resolves when it is over. A reset takes no time. */
  suffer(fault: LinkFault, duration: number): Promise<void>
  close(): void
}

/** Opens a link on a free port of 127.0.0.1. */
export async function openLink(random: Random): Promise<Link> {
  const clients = new Set<Socket>()
  const torn = new Set<Socket>()
  let target = 0
  let fault: LinkFault | undefined

  /** Forwards data from one socket to the other, in order, unless the fault `loss` is active. */
  const pass = (client: Socket, from: Socket, to: Socket, loss: LinkFault) => {
    let passed = Promise.resolve()
    let isTorn = false
    from.on('data', (chunk) => {
      // After a gap TCP delivers no further bytes.
      isTorn ||= fault === loss
      if (isTorn) return void torn.add(client)
      const delay = fault === 'delay' ? random.below(longestDelay) : 0
      passed = passed.then(async () => {
        if (delay > 0) await sleep(delay)
        to.write(chunk)
      })
    })
    from.on('end', () => passed.then(() => to.end()))
  }
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    clients.add(client)
    pass(client, client, upstream, 'requests lost')
    pass(client, upstream, client, 'answers lost')
    upstream.on('error', () => {}).on('close', () => client.destroy())
    client
      .on('error', () => {})
      .on('close', () => {
        upstream.destroy()
        clients.delete(client)
        torn.delete(client)
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reset = (sockets: Set<Socket>) => {
    for (const socket of [...sockets]) socket.resetAndDestroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      target = port
    },
    async suffer(suffered, duration) {
      if (suffered === 'reset') return reset(clients)
      fault = suffered
      await sleep(duration)
      fault = undefined
      reset(torn)
    },
    close() {
      server.close()
      reset(clients)
    },
  }
}
