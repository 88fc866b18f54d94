import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A request that a receiver got. */
export type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string }

/** Starts a receiver that responds by a function and keeps what it received. */
export async function receiver(t: Test, respond: (response: ServerResponse, received: Received) => void) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url = '', headers } = request
    received.push({ method, url, headers, body })
    respond(response, received.at(-1) as Received)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}
