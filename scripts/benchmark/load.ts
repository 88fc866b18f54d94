import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistogram, performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { partsOf, type Template } from './requests.ts'

/** The requests of a load: a template whose ids count up from `first`. */
export type Load = { port: number; template: Template; operations: number; first: number; connections: number }

/** The figures of a load; latencies are in milliseconds. */
export type LoadFigures = {
  /** Responses with status 200. */
  answers: number
  /** Other responses, lost requests and closed connections. */
  errors: number
  seconds: number
  p50: number
  p99: number
  p999: number
  max: number
}

/** The name and the version of wrk, such as "wrk 4.1.0"; undefined if it is not installed. */
export const wrkVersion = /^wrk \S+/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0]

/**
 * Keeps one request in flight on each connection for some seconds. The load is wrk, with one thread, or `sendRequests`
 * where wrk is not installed.
 */
export async function closedLoop(load: Load, seconds: number): Promise<LoadFigures> {
  if (wrkVersion === undefined) return await sendRequests(load, { seconds })
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-wrk-'))
  try {
    const script = join(directory, 'requests.lua')
    // Only this user may read the script, because it contains the token.
    await writeFile(script, luaScript(load), { mode: 0o600 })
    const options = ['--threads', '1', '--connections', String(load.connections), '--duration', `${seconds}s`]
    const url = `http://127.0.0.1:${load.port}`
    return parseWrk(
      (await promisify(execFile)('wrk', [...options, '--timeout', '10s', '--script', script, url])).stdout,
    )
  } finally {
    await rm(directory, { recursive: true })
  }
}

function luaScript({ template, operations, first }: Load): string {
  const values: Record<string, string> = { id: 'id', operation: `(id % ${operations})` }
  // A JSON string of ASCII characters is a Lua string, too.
  const parts = partsOf(template).map((part, index) => (index % 2 === 0 ? JSON.stringify(part) : values[part]))
  return `local id = ${first - 1}
function request()
  id = id + 1
  return ${parts.join(' .. ')}
end
function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("figures %d %d %d %d %d %d %d %d\\n", summary.requests, errors.status, lost, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`
}

/** Parses the line of figures that the script prints, in microseconds. Throws if there is none. */
function parseWrk(output: string): LoadFigures {
  const [, line] = /^figures ([\d ]+)$/m.exec(output) ?? []
  if (line === undefined) throw new Error(`wrk printed no figures: ${output}`)
  const [requests = 0, refused = 0, lost = 0, duration = 0, p50 = 0, p99 = 0, p999 = 0, max = 0] = line
    .split(' ')
    .map(Number) as number[]
  const latencies = { p50: p50 / 1e3, p99: p99 / 1e3, p999: p999 / 1e3, max: max / 1e3 }
  return { answers: requests - refused, errors: refused + lost, seconds: duration / 1e6, ...latencies }
}

/** The time after the last request within which its response must arrive, in milliseconds. */
const responseTimeout = 5_000

/** What a load lasts: seconds, at a rate of requests per second, or until `count` requests. */
export type Duration = { seconds: number; rate?: number; count?: number }

/**
 * Sends requests for some seconds, or `count` requests, on connections of their own, or on given ones, which take turns
 * and stay open. With a rate per second they are due by a Poisson process: independently of each other and of earlier
 * responses, as those of many clients. Latency then counts from when a request was due, so that a stall shows in each
 * request that it delayed. Without a rate each connection sends its next request after the response. Polls instead of
 * sleeping, because waking this process would delay requests.
 */
export async function sendRequests(
  { port, template, operations, first, connections }: Load,
  { seconds, rate, count = Number.POSITIVE_INFINITY }: Duration,
  given?: Connection[],
): Promise<LoadFigures> {
  const parts = partsOf(template)
  const latency = createHistogram({ lowest: 1, highest: 3_600e9, figures: 3 })
  const idle = [...(given ?? (await openConnections(port, connections)))]
  const sockets = [...idle]
  for (const connection of sockets) connection.record = record
  const [start, end] = [performance.now(), performance.now() + 1_000 * seconds]
  let [due, sent, errors, done] = [start, 0, 0, 0]
  const gap = () => (rate === undefined ? 0 : (-Math.log(1 - Math.random()) * 1_000) / rate)
  while (true) {
    const now = performance.now()
    if (rate === undefined) due = now
    for (; due <= now && due < end && sent < count && idle.length > 0; due += gap()) {
      const values: Record<string, number> = { id: first + sent, operation: (first + sent) % operations }
      const text = parts.map((part, index) => (index % 2 === 0 ? part : values[part])).join('')
      idle.shift()?.send(text, due)
      sent++
    }
    if (((due >= end || sent >= count) && done === sent) || now > end + responseTimeout) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (given === undefined) for (const { close } of sockets) close()
  const [p50 = 0, p99 = 0, p999 = 0] = [50, 99, 99.9].map((percent) => latency.percentile(percent) / 1e6)
  const elapsed = rate === undefined ? (performance.now() - start) / 1e3 : seconds
  const figures = { answers: latency.count, errors: errors + sent - done, seconds: elapsed, max: latency.max / 1e6 }
  return { ...figures, p50, p99, p999 }

  function record(connection: Connection, isCorrect: boolean, since: number): void {
    done++
    if (isCorrect) latency.record(Math.max(1, Math.round((performance.now() - since) * 1e6)))
    else errors++
    idle.push(connection)
  }
}

/** A connection with at most one request in flight, which calls `record` with each response. */
export type Connection = {
  record: (connection: Connection, isCorrect: boolean, since: number) => void
  send(text: string, since: number): void
  close(): void
}

/** Opens connections, at most 500 at a time, because the kernel caps the queue of those that a server has not accepted. */
export async function openConnections(port: number, count: number): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < count) {
    const next = Array.from({ length: Math.min(500, count - connections.length) }, () => openConnection(port))
    connections.push(...(await Promise.all(next)))
  }
  return connections
}

/** Each read is used up before the next one, so that one buffer is enough for thousands of connections. */
const buffer = Buffer.alloc(65_536)

function openConnection(port: number): Promise<Connection> {
  let [since, text, missing] = [0, '', 0]
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    socket.once('connect', () => resolve(connection)).once('error', reject)
    const connection: Connection = {
      record() {},
      send(request, at) {
        since = at
        text = ''
        socket.write(request, 'latin1')
      },
      close: () => void socket.destroy(),
    }

    function callback(length: number): boolean {
      if (text === '') {
        // The head of a response arrives at once, because servers write it at once.
        text = buffer.toString('latin1', 0, Math.min(length, 4_096))
        const body = text.indexOf('\r\n\r\n') + 4
        missing = body + Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1])
      }
      missing -= length
      if (missing === 0) connection.record(connection, text.startsWith('HTTP/1.1 200 '), since)
      return true
    }
  })
}
