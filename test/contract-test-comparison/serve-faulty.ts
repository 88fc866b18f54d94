import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Listens on a free port of this machine, which it prints. */
export async function serveFaulty(app: FastifyInstance): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.stdout.write(`listening on ${(app.server.address() as AddressInfo).port}\n`)
}
