import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { assertContractResponse } from './contract.ts'
import { authorization } from './test-app.ts'

/** A string holds one byte a character (latin1), so that '\xff' is one byte; only the body of `request` is UTF-8. */
export type Bytes = string | Buffer
/** A step of a client: send bytes, wait for responses, pause (ms), or half-close. */
export type Step = Bytes | { answered: number } | { continued: true } | { pause: number } | { halfClose: true }

export type Expected = {
  status: number
  /** The contract's error number; left out where the design leaves a choice. */
  error?: number
  /** A string must be equal, a pattern must match; undefined means that the header is absent. */
  headers?: Record<string, string | RegExp | undefined>
  /** Body of a 200; default: the plant of `request`. */
  body?: object
  /** Method and path of the request; default: POST /plants. */
  to?: string
}

export type Case = {
  name: string
  bytes: Bytes | Step[]
  /** Several responses on one connection; replaces `status` and the other members of `Expected`. */
  answers?: Expected[]
  /** Number of 100 Continue responses; default 0. */
  continues?: number
  /**
   * Default: the connection stays open, which a further request proves. `true`: the service announces the close
   * and closes. `quietly`: it closes, announced or not. `as announced`: it closes if and only if it announces that.
   */
  closes?: boolean | 'quietly' | 'as announced'
} & Partial<Expected>

/** Returns a case; by default, its response is the 200 of a valid create. */
export const row = (
  name: string,
  bytes: Case['bytes'],
  expected: Omit<Case, 'name' | 'bytes'> = { status: 200 },
): Case => ({
  name,
  bytes,
  ...expected,
})

type Answer = { status: number; headers: Record<string, string>; body: string; repeated: string[] }

/** Deadline for each expectation of a case (ms). */
const patience = 3_000

export const plant = { name: 'raw' }
export const record = '{"id":1,"name":"raw"}'

type Parts = { line?: string; headers?: string[]; without?: string[]; body?: Bytes; version?: string }

/** Returns a valid create; a line of `headers` replaces the default header of that name. The body is UTF-8. */
export function request({
  line = 'POST /plants HTTP/1.1',
  headers = [],
  without = [],
  body = record,
}: Parts = {}): Buffer {
  const content = Buffer.from(body as string)
  const defaults = {
    host: 'Host: plants.example',
    authorization: `Authorization: ${authorization}`,
    'content-type': 'Content-Type: application/json',
    'content-length': `Content-Length: ${content.length}`,
  }
  const given = new Set([...without, ...headers.map((header) => header.replace(/[\s:].*$/s, '').toLowerCase())])
  if (given.has('transfer-encoding')) given.add('content-length')
  const kept = Object.entries(defaults).flatMap(([name, header]) => (given.has(name) ? [] : [header]))
  return Buffer.concat([Buffer.from(`${[line, ...kept, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'), content])
}

/** Runs each case on a new connection, in order; returns the names of the cases whose responses lack Date. */
export async function runCases(t: Test, port: number, cases: Case[]): Promise<string[]> {
  const withoutDate = new Set<string>()
  for (const one of cases)
    await t.test(one.name, async (t) => {
      for (const { headers } of await runCase(t, port, one)) if (headers.date === undefined) withoutDate.add(one.name)
    })
  return [...withoutDate]
}

async function runCase(
  t: Test,
  port: number,
  { bytes, answers, continues = 0, closes: wanted = false, ...only }: Case,
) {
  const expected = answers ?? [only as Expected]
  const client = new Client(
    port,
    expected.map(({ to = '' }) => to.startsWith('HEAD ')),
  )
  t.teardown(() => client.destroy())
  for (const step of Array.isArray(bytes) ? bytes : [bytes]) await client.take(step)
  await client.until(() => client.answers.length >= expected.length)
  const announced = client.answers[expected.length - 1]?.headers.connection === 'close'
  const closes = wanted === 'as announced' ? announced : wanted
  if (closes) t.ok(await client.until(() => client.ended), 'the service closes the connection')
  else if (client.answers.length >= expected.length) await probe(t, client, expected.length)

  const { answers: came, leftover } = client
  t.same(
    came.map(({ status }) => status),
    expected.map(({ status }) => status),
    'the statuses, in order',
  )
  t.equal(client.continues, continues, 'the number of 100 Continue responses')
  t.equal(leftover, '', 'nothing else is sent')
  for (const [index, want] of expected.entries()) {
    const answer = came[index]
    if (answer !== undefined) check(t, want, answer)
  }
  const last = came[expected.length - 1]
  if (closes === true) t.equal(last?.headers.connection, 'close', 'the close is announced')
  if (closes === false) t.not(last?.headers.connection, 'close', 'no close is announced')
  return came
}

/** Sends one more request, which must get a 200: this shows that the service parsed all earlier framing correctly. */
async function probe(t: Test, client: Client, answered: number): Promise<void> {
  await client.take(request({ body: '{"id":2,"name":"probe"}' }))
  t.ok(await client.until(() => client.answers.length > answered), 'the connection stays open')
  const answer = client.answers.splice(answered, 1)[0]
  t.match(answer, { status: 200, body: '{"name":"probe"}' }, 'the connection serves another request')
}

function check(t: Test, { status, error, headers = {}, body = plant, to = 'POST /plants' }: Expected, answer: Answer) {
  const [method = '', path = ''] = to.split(' ')
  assertContractResponse(t, { ...answer, method, path })
  t.same(answer.repeated, [], 'no header is repeated')
  for (const [name, want] of Object.entries(headers)) {
    if (want instanceof RegExp) t.match(answer.headers[name], want, name)
    else t.equal(answer.headers[name], want, name)
  }
  if (method === 'HEAD' || status === 204) return
  if (status === 200) t.same(JSON.parse(answer.body), body)
  const number = JSON.parse(answer.body).error
  if (error !== undefined) t.equal(number, error, 'the error number')
  if (number === 40100) t.notMatch(answer.headers['www-authenticate'], /error/)
  if (number === 40101) t.match(answer.headers['www-authenticate'], /error="invalid_token"/)
}

/** One connection. On each received chunk, parses all bytes received so far again, strictly. */
class Client {
  answers: Answer[] = []
  continues = 0
  leftover = ''
  /** The service has closed or reset the connection. */
  ended = false
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  readonly #heads: boolean[]

  constructor(port: number, heads: boolean[]) {
    this.#heads = heads
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk) => {
      this.#chunks.push(chunk)
      this.#parse(false)
    })
    this.#socket.on('error', () => {
      this.ended = true
    })
    this.#socket.on('end', () => {
      this.#parse(true)
      this.ended = true
    })
  }

  async take(step: Step): Promise<void> {
    if (typeof step === 'string' || Buffer.isBuffer(step)) {
      this.#socket.write(typeof step === 'string' ? Buffer.from(step, 'latin1') : step)
      // Makes it likely that each chunk is sent as one segment.
      await sleep(1)
    } else if ('pause' in step) await sleep(step.pause)
    else if ('answered' in step) await this.until(() => this.answers.length >= step.answered)
    else if ('continued' in step) await this.until(() => this.continues > 0)
    else this.#socket.end()
  }

  /** Resolves with true once the condition holds, with false at the deadline or when the connection has ended. */
  async until(isSo: () => boolean): Promise<boolean> {
    const end = Date.now() + patience
    while (!isSo() && Date.now() < end && !this.ended) await sleep(1)
    return isSo()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #parse(atEnd: boolean): void {
    let rest = Buffer.concat(this.#chunks).toString('latin1')
    this.answers = []
    this.continues = 0
    for (;;) {
      const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]+\r\n((?:[\w-]+:[^\r\n]*\r\n)*)\r\n/.exec(rest)
      if (head === null) break
      const [whole, status, lines = ''] = head
      const { headers, repeated } = headersOf(lines)
      if (status === '100') {
        this.continues++
        rest = rest.slice(whole.length)
        continue
      }
      const content = this.#heads[this.answers.length]
        ? { length: 0, body: '' }
        : contentOf(headers, rest.slice(whole.length), atEnd)
      if (content === undefined) break
      rest = rest.slice(whole.length + content.length)
      const body = Buffer.from(content.body, 'latin1').toString('utf8')
      this.answers.push({ status: Number(status), headers, repeated, body })
    }
    this.leftover = rest
  }
}

function headersOf(lines: string) {
  const pairs = lines
    .split('\r\n')
    .slice(0, -1)
    .map((line) => /^([^:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [])
    .map(([, name = '', value = '']) => [name.toLowerCase(), value] as const)
  const names = pairs.map(([name]) => name)
  return { headers: Object.fromEntries(pairs), repeated: names.filter((name, index) => names.indexOf(name) !== index) }
}

/** Returns the body (RFC 9112 section 6.3), or undefined when more bytes must arrive. */
function contentOf(headers: Record<string, string>, rest: string, atEnd: boolean) {
  if (headers['transfer-encoding'] === 'chunked') return chunkedContent(rest)
  const length = headers['content-length']
  if (length === undefined) return atEnd ? { length: rest.length, body: rest } : undefined
  return rest.length < Number(length) ? undefined : { length: Number(length), body: rest.slice(0, Number(length)) }
}

/** Returns a chunked body (RFC 9112 section 7.1); trailers are not parsed, because the service sends none. */
function chunkedContent(rest: string) {
  let body = ''
  for (let at = 0; ; ) {
    const size = /^([\da-f]+)\r\n/i.exec(rest.slice(at))
    if (size === null) return undefined
    const start = at + size[0].length
    const end = start + Number.parseInt(size[1] as string, 16)
    if (rest.slice(end, end + 2) !== '\r\n') return undefined
    if (end === start) return { length: end + 2, body }
    body += rest.slice(start, end)
    at = end + 2
  }
}
