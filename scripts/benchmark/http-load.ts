import { connect, type Socket } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'
import { plantBody, responseBody } from './acceptance.ts'

export type HttpFigures = {
  /** Correct responses. */
  answers: number
  /** Wrong responses and closed connections. */
  errors: number
  seconds: number
  /** Latency in milliseconds. */
  p50: number
  p99: number
  p999: number
  max: number
}

export type LoadOptions = {
  port: number
  token: string
  /** Number of keep-alive connections, each with one request in flight. */
  connections: number
  /** Returns the id of the next plant. */
  ids: () => number
  /**
   * Returns the milliseconds until the next request is due. Latency then counts from when a request was due, so that a
   * stall of the server shows in every request that it delayed. Default: each connection sends its next request after
   * the response.
   */
  gap?: () => number
  /** Whether the load polls instead of sleeping: waking it would cost the server CPU and delay requests. */
  polls?: boolean
}

export type HttpLoad = {
  /** Measures the load for the next seconds. */
  measure(seconds: number): Promise<HttpFigures>
  close(): void
}

/** Returns the start of a request, up to the value of Content-Length. */
export const requestHead = (port: number, token: string): string =>
  [
    'POST /plants HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'content-length: ',
  ].join('\r\n')

/** A connection: the time at which its request was sent or due, and the received part of the response. */
type Connection = { since: number; text: string; send(body: string): void }

const maxLatency = 3_600e9

/** Starts to create plants on a loopback port, and checks the status and the body of each response. */
export function openLoad({ port, token, connections, ids, gap, polls = false }: LoadOptions): HttpLoad {
  const head = requestHead(port, token)
  const latency = createHistogram({ lowest: 1, highest: maxLatency, figures: 3 })
  const idle: Connection[] = []
  let errors = 0
  let due = performance.now()
  let closed = false
  const sockets = new Set<Socket>()
  for (let count = 0; count < connections; count++) openConnection()
  const pace = gap === undefined || polls ? undefined : setInterval(sendDue, 1)

  if (polls) poll()

  function poll(): void {
    if (closed) return
    sendDue()
    setImmediate(poll)
  }

  function next(connection: Connection): void {
    if (gap !== undefined) {
      idle.push(connection)
      sendDue()
    } else send(connection, performance.now())
  }

  function sendDue(): void {
    if (gap === undefined) return
    for (const now = performance.now(); due <= now && idle.length > 0; due += gap()) send(idle.pop() as Connection, due)
  }

  function send(connection: Connection, since: number): void {
    connection.since = since
    connection.text = ''
    const body = plantBody(ids())
    connection.send(`${head}${body.length}\r\n\r\n${body}`)
  }

  /** Opens a connection, and reopens it when it closes. */
  function openConnection(): void {
    const buffer = Buffer.alloc(16_384)
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    const connection: Connection = { since: 0, text: '', send: (text) => void socket.write(text, 'latin1') }
    sockets.add(socket)
    socket.once('connect', () => next(connection)).on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      if (closed) return
      errors++
      if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1)
      setTimeout(() => closed || openConnection(), 100)
    })

    function callback(length: number): boolean {
      connection.text += buffer.toString('latin1', 0, length)
      if (isCorrect(connection.text))
        latency.record(Math.max(1, Math.round((performance.now() - connection.since) * 1e6)))
      else if (isComplete(connection.text)) errors++
      else return true
      next(connection)
      return true
    }
  }

  return {
    async measure(seconds) {
      latency.reset()
      errors = 0
      const start = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds))
      const elapsed = (performance.now() - start) / 1_000
      const percentile = (percent: number) => latency.percentile(percent) / 1e6
      const [p50, p99, p999] = [percentile(50), percentile(99), percentile(99.9)]
      return { answers: latency.count, errors, seconds: elapsed, p50, p99, p999, max: latency.max / 1e6 }
    },
    close() {
      closed = true
      clearInterval(pace)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Returns whether a text is one complete, correct response. A connection has only one request in flight. */
const isCorrect = (text: string) => text.startsWith('HTTP/1.1 200 ') && text.endsWith(`\r\n\r\n${responseBody}`)

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n') + 4
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? []
  return end >= 4 && text.length >= end + Number(length ?? 0)
}
