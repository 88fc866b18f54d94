import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type ListenOptions, type Server } from 'node:net'
import type { FastifyInstance, FastifyListenOptions } from 'fastify'

type Listen = (options?: FastifyListenOptions) => Promise<string>

/** The further listeners of a server. */
export type LocalListeners = {
  /** Returns whether a new connection exceeds `maxConnections` of the server, beside `open` connections. */
  isFull(open: number): boolean
  /** The listeners that are open. */
  servers: readonly Server[]
}

/**
 * Makes an app listen on every address of `localhost`, the default host of Fastify, with one HTTP server. Fastify would
 * create another HTTP server for each further address, without the listeners of the first, so none of its connections
 * would be limited, observed, or served until a shutdown has ended. An address on which nothing can listen is left out,
 * as Fastify does.
 */
export function listenLocally(app: FastifyInstance): LocalListeners {
  const { server } = app
  const [listen, addresses] = [app.listen as unknown as Listen, app.addresses.bind(app)]
  const servers: Server[] = []
  const add = async (options: ListenOptions): Promise<void> => {
    // The options of an HTTP server.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
    await once(listener.listen(options), 'listening').then(() => servers.push(listener), ignore)
    // A connection that cannot be accepted affects only its client.
    listener.on('error', ignore)
  }
  const listenOnAll = async (options: FastifyListenOptions): Promise<string> => {
    const { host = 'localhost', path } = options
    if (host !== 'localhost' || path !== undefined) return await listen.call(app, options)
    const found = await lookup(host, { all: true })
    const [first, ...others] = [...new Set(found.map(({ address }) => address))]
    const url = await listen.call(app, { ...options, host: first as string })
    const { port } = server.address() as { port: number }
    await Promise.all(others.map((address) => add({ ...options, host: address, port })))
    return url
  }
  Object.assign(app, {
    listen(options: FastifyListenOptions = { port: 0 }, done?: (error: Error | null, address: string) => void) {
      const listening = listenOnAll(options)
      if (done === undefined) return listening
      listening.then(
        (address) => done(null, address),
        (error) => done(error, ''),
      )
    },
    addresses: () => [...addresses(), ...servers.map((each) => each.address())],
  })
  return { servers, isFull: (open) => servers.length > 0 && open >= server.maxConnections }
}

const ignore = () => {}
