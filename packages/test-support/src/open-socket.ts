import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { until, within } from './poll.ts'

export type OpenSocket = {
  socket: Socket
  /** Returns everything received so far, in latin1. */
  received(): string
  /** Resolves once the received text matches; rejects when it does not in time. */
  receives(pattern: RegExp): Promise<string>
  /** Returns true once the connection was closed or reset. */
  isClosed(): boolean
  /** Resolves with the received text once the connection is closed; rejects after `limit` (ms). */
  closed(limit?: number): Promise<string>
}

/** Connects to a loopback port, sends bytes and collects what is received; destroyed when the test ends. */
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

/** Resolves once a loopback port refuses connections. */
export async function untilRefused(port: number): Promise<void> {
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('connect', () => resolve(false)).on('error', () => resolve(true))
      socket.on('connect', () => socket.destroy())
    })
  await until(isRefused, `port ${port} refuses connections`)
}
