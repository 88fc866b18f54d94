import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { until, within } from '../../scripts/system/poll.ts'

export type OpenSocket = {
  socket: Socket
  /** What has been received so far, in latin1. */
  received(): string
  /** Resolves once what has been received matches; rejects when it does not in time. */
  receives(pattern: RegExp): Promise<string>
  /** Whether the connection is closed, or was reset. */
  isClosed(): boolean
  /** Resolves with all that was received once the connection is closed; rejects when it is not in time. */
  closed(limit?: number): Promise<string>
}

/** Opens a connection to a port of the loopback address, until the test ends, sends bytes and reads all that comes. */
export async function openSocket(t: Test, port: number, bytes: string | Buffer = ''): Promise<OpenSocket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let text = ''
  let hasClosed = false
  await within(once(socket, 'connect'), `a connection to port ${port}`)
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => {
      text += chunk
    })
    // A reset is another way to close.
    .on('error', () => {})
    .on('close', () => {
      hasClosed = true
    })
  socket.write(bytes)
  const all = () => `received: ${JSON.stringify(text)}`
  return {
    socket,
    received: () => text,
    isClosed: () => hasClosed,
    receives: (pattern) =>
      until(
        () => pattern.test(text) && text,
        () => `${pattern} on a connection, ${all()}`,
      ),
    async closed(limit) {
      await until(
        () => hasClosed,
        () => `the close of a connection, ${all()}`,
        limit,
      )
      return text
    },
  }
}

/** Resolves once nothing listens at a port of the loopback address. */
export async function untilRefused(port: number): Promise<void> {
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('connect', () => resolve(false)).on('error', () => resolve(true))
      socket.on('connect', () => socket.destroy())
    })
  await until(isRefused, `port ${port} refuses connections`)
}
