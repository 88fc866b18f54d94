import { connect, type Socket } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'
import { plantBody, replyBody } from './acceptance.ts'

export type HttpFigures = {
  /** Right answers. */
  answers: number
  /** Wrong answers, and connections that ended. */
  errors: number
  seconds: number
  /** Milliseconds. */
  p50: number
  p99: number
}

export type LoadOptions = {
  port: number
  token: string
  /** Kept alive, with one request in flight on each. */
  connections: number
  /** The id of each plant. */
  ids: () => number
  /**
   * Requests a second, due at even times: one is then timed from when it was due, so that a server that stalls does not
   * hide it. Without it each connection sends its next request as soon as it has the answer.
   */
  rate?: number
  /** Whether the load never sleeps: to wake it is work for the server that answers. */
  polls?: boolean
}

export type HttpLoad = {
  /** Gives the figures of the next seconds. */
  measure(seconds: number): Promise<HttpFigures>
  close(): void
}

/** From when a request was sent or due, and what has come of its answer so far. */
type Lane = { since: number; text: string; send(body: string): void }

const maxLatency = 3_600e9

/** Begins to send plants to a server of this machine, and checks each answer to the last byte. */
export function openLoad({ port, token, connections, ids, rate, polls = false }: LoadOptions): HttpLoad {
  const head = [
    'POST /plants HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'content-length: ',
  ].join('\r\n')
  const latency = createHistogram({ lowest: 1, highest: maxLatency, figures: 3 })
  const idle: Lane[] = []
  let errors = 0
  let due = performance.now()
  let closed = false
  const sockets = new Set<Socket>()
  for (let count = 0; count < connections; count++) openLane()
  const pace = rate === undefined ? undefined : setInterval(sendDue, 1)

  if (polls) poll()

  function poll(): void {
    if (!closed) setImmediate(poll)
  }

  function next(lane: Lane): void {
    if (rate !== undefined) {
      idle.push(lane)
      sendDue()
    } else send(lane, performance.now())
  }

  function sendDue(): void {
    const now = performance.now()
    for (; due <= now && idle.length > 0; due += 1_000 / (rate as number)) send(idle.pop() as Lane, due)
  }

  function send(lane: Lane, since: number): void {
    lane.since = since
    lane.text = ''
    const body = plantBody(ids())
    lane.send(`${head}${body.length}\r\n\r\n${body}`)
  }

  /** Opens a connection, and another one when it ends. */
  function openLane(): void {
    const buffer = Buffer.alloc(16_384)
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    const lane: Lane = { since: 0, text: '', send: (text) => void socket.write(text, 'latin1') }
    sockets.add(socket)
    socket.once('connect', () => next(lane)).on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      if (closed) return
      errors++
      if (idle.includes(lane)) idle.splice(idle.indexOf(lane), 1)
      setTimeout(() => closed || openLane(), 100)
    })

    function callback(length: number): boolean {
      lane.text += buffer.toString('latin1', 0, length)
      if (isRight(lane.text)) latency.record(Math.max(1, Math.round((performance.now() - lane.since) * 1e6)))
      else if (isWhole(lane.text)) errors++
      else return true
      next(lane)
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
      return { answers: latency.count, errors, seconds: elapsed, p50: percentile(50), p99: percentile(99) }
    },
    close() {
      closed = true
      clearInterval(pace)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Nothing follows it: the connection has no other request. */
const isRight = (text: string) => text.startsWith('HTTP/1.1 200 ') && text.endsWith(`\r\n\r\n${replyBody}`)

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n') + 4
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? []
  return end >= 4 && text.length >= end + Number(length ?? 0)
}
