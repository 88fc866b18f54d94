import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from 'fastify-contract-test-support/poll'
import { token } from '../scenarios/built-service.ts'

/** Interval between two pieces of a request (ms): the slowness under test. */
const pace = 250

/**
 * Connects to a port; resolves with the time (ms) until the service closed the connection, or with Infinity when it was
 * still open after `patience` (ms).
 */
export type SlowClient = (port: number, patience: number) => Promise<number>

const head = (length: number) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

const create = (id: number, nameLength: number) => {
  const body = `{"id":${id},"name":"${'x'.repeat(nameLength)}"}`
  return head(body.length) + body
}

/** Connects and sends nothing. */
export const silent: SlowClient = async (port, patience) => measure(await connected(port), patience)

/** Sends an endless sequence of header lines, slowly. */
export const slowHeaders: SlowClient = (port, patience) =>
  trickle(port, patience, 'POST /plants HTTP/1.1\r\n', 'X: a\r\n')

/** Sends valid headers, then the body byte by byte, slowly. */
export const slowBody: SlowClient = (port, patience) => trickle(port, patience, head(1_000), ' ')

/** Sends one request, reads the response and then keeps the connection idle. */
export const idle: SlowClient = async (port, patience) => {
  const socket = await connected(port)
  socket.write(create(1, 10))
  const answered = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  await within(answered, 'the first response')
  return await measure(socket, patience)
}

/**
 * Sends requests whose responses exceed the socket buffers, and reads nothing. Only a final read shows whether the
 * service has closed the connection: if so, part of the responses is missing.
 */
export const notReading: SlowClient = async (port, patience) => {
  const [requests, nameLength] = [25, 200_000]
  const socket = await connected(port)
  for (let id = 1; id <= requests; id++) {
    socket.write(create(-id, nameLength))
    await sleep(pace)
  }
  await sleep(patience)
  let received = 0
  socket.on('data', (bytes) => {
    received += bytes.length
  })
  await measure(socket, 3_000)
  return received < requests * nameLength ? patience : Number.POSITIVE_INFINITY
}

async function trickle(port: number, patience: number, beginning: string, piece: string): Promise<number> {
  const socket = await connected(port)
  socket.write(beginning)
  const timer = setInterval(() => socket.write(piece), pace)
  const duration = await measure(socket, patience)
  clearInterval(timer)
  return duration
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const settled = new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
  await within(settled, 'a connection')
  return socket
}

/** Returns the time (ms) until the service closes a connection, with or without a response. */
async function measure(socket: Socket, patience: number): Promise<number> {
  const start = performance.now()
  const ended = new Promise<number>((resolve) => {
    const end = () => resolve(performance.now() - start)
    socket.on('error', end).once('end', end).once('close', end).resume()
  })
  const duration = await Promise.race([ended, sleep(patience, Number.POSITIVE_INFINITY)])
  socket.destroy()
  return duration
}
