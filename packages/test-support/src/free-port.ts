import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a free port of 127.0.0.1. It is below the ephemeral ports, so that no outgoing connection can occupy it. */
export async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return await freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
