import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { type ListenAddress, listen } from 'fastify-contract/service'

/** A port that stays open while the service behind it is replaced. Connections wait until the first `forward`. */
export type PortForwarder = {
  /** The URL that clients use. */
  url: string
  /** Forwards waiting and new connections to the service at a URL; without a URL they are closed. */
  forward(url: string | undefined): void
  /** Makes new connections wait for the next `forward`; open connections continue. */
  hold(): void
  /** Closes the port. */
  close(): void
}

/**
 * Opens a port whose connections wait for a service. Rejects with an error of one line that names the environment
 * variable to change.
 */
export async function openPortForwarder(place: ListenAddress, prefix = ''): Promise<PortForwarder> {
  let release: (target: string | undefined) => void = () => {}
  const held = () =>
    new Promise<string | undefined>((resolve) => {
      release = resolve
    })
  let next = held()
  let isHolding = true
  const accept = async (client: Socket) => {
    client.on('error', () => {})
    const url = await next
    if (url === undefined) client.destroy()
    else join(client, new URL(url))
  }
  const server = createServer({ allowHalfOpen: true }, accept)
  server.maxConnections = 1_000
  const url = await listen((at) => once(server.listen(at), 'listening'), server, place, prefix)
  return {
    url,
    forward(target) {
      if (isHolding) release(target)
      else next = Promise.resolve(target)
      isHolding = false
    },
    hold() {
      if (!isHolding) next = held()
      isHolding = true
    },
    close: () => void server.close(),
  }
}

/** Copies bytes both ways until both sides have ended; an error on one side closes the other. */
function join(client: Socket, { hostname, port }: URL): void {
  const service = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), allowHalfOpen: true })
  // A regular close could make a broken response look complete.
  service.on('error', () => client.resetAndDestroy())
  pipeline(client, service, () => {})
  pipeline(service, client, () => {})
}
