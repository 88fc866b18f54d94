import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import type { Case, Tagged } from './driver.ts'

/** What was seen of a case. */
export type Seen = {
  /** The bytes that the client sent and received, as Latin-1. */
  sent: string
  returned: string
  /** What the handler received in each request. */
  received: Tagged[]
}

export type Recorder = {
  /** Where the client finds the service. */
  baseUrl: string
  /** Where a driver says which case is next: GET controlUrl/OPERATION/CASE, with both percent-encoded. */
  controlUrl: string
  /** What was seen, by `OPERATION/CASE`. */
  seen: Map<string, Seen>
  /** The port of the service. */
  target: { port: number }
  close(): void
}

/** Starts what records a client: a TCP proxy before the service, and the control server. */
export async function startRecorder(cases: Case[]): Promise<Recorder> {
  const seen = new Map<string, Seen>()
  const byName = new Map(cases.map((each) => [keyOf(each), each]))
  let current: { seen: Seen; next: Case | undefined } = { seen: nothing(), next: undefined }
  const target = { port: 0 }

  const proxy = createTcpServer({ allowHalfOpen: true }, (client) => {
    const service = connect({ port: target.port, host: '127.0.0.1', allowHalfOpen: true })
    client.on('data', (bytes) => {
      current.seen.sent += bytes.toString('latin1')
    })
    service.on('data', (bytes) => {
      current.seen.returned += bytes.toString('latin1')
    })
    client.pipe(service).pipe(client)
    client.on('error', () => service.destroy())
    service.on('error', () => client.destroy())
    client.on('close', () => service.destroy())
  })

  const control = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const { received } = JSON.parse(await textOf(request))
      // A second request of a case, such as one after a redirect, gets what it sent.
      const reply = current.seen.received.length === 0 ? current.next?.reply : undefined
      current.seen.received.push(received)
      response.end(JSON.stringify(reply ?? null))
      return
    }
    const key = (request.url as string).slice(1).split('/').map(decodeURIComponent).join('/')
    const next = byName.get(key)
    if (next === undefined) {
      response.writeHead(404).end(`no case ${key}`)
      return
    }
    current = { seen: nothing(), next }
    seen.set(key, current.seen)
    response.writeHead(204).end()
  })

  const [port, controlPort] = [await listen(proxy), await listen(control)]
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    controlUrl: `http://127.0.0.1:${controlPort}`,
    seen,
    target,
    close() {
      proxy.close()
      control.close()
      control.closeAllConnections()
    },
  }
}

export const keyOf = (each: { operation: string; case: string }): string => `${each.operation}/${each.case}`

const nothing = (): Seen => ({ sent: '', returned: '', received: [] })

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
