import type { ClosingInstance } from './matrix-service.ts'
import { type Exchange, exchange, get, isOwnError, post, responseIn } from './raw-exchange.ts'
import type { Check } from './stream-checks.ts'

/** Says the status of a response, and whether the service or the proxy has made it. */
function statusOf({ text, end }: Exchange): string {
  const response = responseIn(text)
  if (response === undefined) return end === undefined ? 'nothing' : 'a closed connection'
  const { status } = response
  return status < 400 || isOwnError(response) ? `${status}` : `${status} of the proxy`
}

const small = '{}'

/** Tries of each size, and how many of them must see the status. */
const [tries, required] = [50, 47]

/** Tells whether a client that sends its whole request before it reads sees an early 401. */
const early: Check = async ({ port }) => {
  const failing: string[] = []
  for (const [name, bytes] of [
    ['1 KB', 1_000],
    ['100 KB', 100_000],
    ['1 MB', 1_000_000],
    ['8 MB', 8_000_000],
  ] as const) {
    const body = Buffer.alloc(bytes, ' ')
    let seen = 0
    for (let i = 0; i < tries; i++) {
      const request = post('/closed', `Content-Length: ${bytes}`)
      if (statusOf(await exchange(port, request, { body })) === '401') seen++
    }
    if (seen < required) failing.push(name)
  }
  return failing.length === 0 ? 'seen' : `sometimes lost: ${failing.join(', ')}`
}

const says =
  (request: string, options = {}): Check =>
  async ({ port }) =>
    statusOf(await exchange(port, request, options))

const trailers: Check = async ({ port }) => {
  const request = `${post('/echo', 'Transfer-Encoding: chunked', 'Trailer: X-Sum')}2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n`
  const answer = await exchange(port, request)
  const response = responseIn(answer.text)
  if (response?.status !== 200) return statusOf(answer)
  return JSON.parse(response.body).trailers['x-sum'] === '1' ? 'arrive' : 'dropped'
}

/** Tells what a client gets that waits for 100 Continue before it sends a body. */
const expecting =
  (path: string): Check =>
  async ({ port }) => {
    const { text } = await exchange(port, post(path, 'Expect: 100-continue', 'Content-Length: 1000'), { limit: 1_500 })
    const statuses = Array.from(text.matchAll(/^HTTP\/1\.1 (\d+)/gm), ([, status]) => status)
    return statuses.join(', then ') || 'nothing'
  }

const pipelined: Check = async ({ port }) => {
  const count = (text: string) => text.match(/HTTP\/1\.1 200/g)?.length ?? 0
  const last = get('/echo', 'Connection: close')
  const { text } = await exchange(port, get('/echo').repeat(2) + last, { until: () => false, limit: 5_000 })
  return `${count(text)} of 3`
}

/** Returns what the instance has received. */
async function received(port: number, ...headers: string[]) {
  const response = responseIn((await exchange(port, get('/echo', ...headers))).text)
  const { headers: seen = {}, ip = '' } = response?.status === 200 ? JSON.parse(response.body) : {}
  return { seen: seen as Record<string, string>, ip: ip as string, sent: response?.headers ?? {} }
}

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const requestIds: Check = async ({ port }) => {
  const { seen, sent } = await received(port, 'X-Request-Id: abc', `traceparent: ${trace}`)
  const own = await received(port)
  const parts = [
    seen['x-request-id'] === 'abc' && sent['x-request-id'] === 'abc' ? 'kept' : 'replaced',
    ...(seen.traceparent === trace ? [] : ['traceparent lost']),
    ...(own.sent['x-request-id'] === undefined ? ['none in the response'] : []),
  ]
  return parts.join(', ')
}

const host: Check = async ({ port }) => {
  const { seen } = await received(port)
  return seen.host === 'shop.example' ? 'kept' : 'replaced'
}

const client: Check = async ({ port }) => {
  const { seen } = await received(port, 'X-Forwarded-For: 192.0.2.9')
  const text = seen['x-forwarded-for']
  if (text === '192.0.2.9') return 'lost, and the value of the client is believed'
  return /^192\.0\.2\.9, ?[\d.]+$/.test(text ?? '') ? 'appended' : text === '127.0.0.1' ? 'replaced' : 'lost'
}

const scheme: Check = async ({ port }) => {
  const { seen } = await received(port, 'X-Forwarded-Proto: https')
  const text = seen['x-forwarded-proto']
  return text === 'http' ? 'set' : text === 'https' ? 'the value of the client is believed' : 'lost'
}

/** Tells whether a proxy answers a repeated GET itself, although the response does not say that it may be stored. */
const stored: Check = async ({ port }) => {
  const request = get('/time')
  const [first, second] = [await exchange(port, request), await exchange(port, request)]
  return responseIn(first.text)?.body === responseIn(second.text)?.body ? 'stored' : 'not stored'
}

const upgrade = get(
  '/none',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
)

const fields = Array.from({ length: 4 }, (_, index) => `X-${index}: ${'a'.repeat(5_000)}`)

const slowBody: Check = async ({ port }) => {
  const answer = await exchange(port, `${post('/echo', 'Content-Length: 1000')}{`, { limit: 7_000 })
  const status = statusOf(answer)
  return status === 'nothing' ? 'held by the proxy' : status
}

/** Tells whether a request on a connection that an instance has closed, for its restart, gets its response. */
const restart: Check = async ({ port, instances }) => {
  const outcomes = new Set<string>()
  for (const instance of instances) {
    for (let i = 0; i < 4; i++) await exchange(port, get('/echo'))
    await instance.restart()
    for (let i = 0; i < 4; i++)
      outcomes.add(statusOf(await exchange(port, `${post('/echo', 'Content-Length: 2')}${small}`)))
  }
  return [...outcomes].sort().join(' or ')
}

export const requestChecks: Record<string, Check> = {
  'status of a rejected upload': early,
  'request with trailers': trailers,
  '`Expect: 100-continue`': expecting('/echo'),
  'the same, rejected': expecting('/closed'),
  'pipelined requests': pipelined,
  'POST after a restart': restart,
  'response without `Cache-Control`': stored,
  '`X-Request-Id`': requestIds,
  '`Host`': host,
  '`X-Forwarded-For`': client,
  '`X-Forwarded-Proto`': scheme,
  'field of 12 KB': says(get('/echo', `X: ${'a'.repeat(12_000)}`)),
  'header section of 20 KB': says(get('/echo', ...fields)),
  'body of 2 MB': says(`${post('/echo', 'Content-Length: 2000000')}`, { body: Buffer.alloc(2_000_000, ' ') }),
  'slow body': slowBody,
  'WebSocket handshake': says(upgrade),
}

/** What a client gets while no instance runs. */
export const downCheck: Check = (target) => says(get('/echo'), { limit: 25_000 })(target)

/**
 * Tells what a client gets if an instance closes an idle connection just when the proxy reuses it, so that the proxy
 * cannot know whether the request was executed.
 */
export async function closedReuse(port: number, closing: ClosingInstance, request: () => string): Promise<string> {
  // Connections to both instances that can be reused.
  for (let i = 0; i < 8; i++) await exchange(port, get('/echo'))
  const hasClosed = closing.arm()
  const statuses: string[] = []
  for (let i = 0; i < 4 && !hasClosed(); i++) statuses.push(statusOf(await exchange(port, request())))
  if (!hasClosed()) return 'no reuse'
  const last = statuses.at(-1) as string
  return last === '200' ? 'repeated' : last
}

/** A request that a proxy may repeat, and one that it may not. */
export const closedRequests = {
  'GET on a connection that closes': () => get('/echo'),
  'POST on a connection that closes': () => post('/echo', 'Content-Length: 2') + small,
}

/** Tells how a proxy that compresses a response changes its entity tag. */
export const compressed: Check = async ({ port }) => {
  const plain = responseIn((await exchange(port, get('/text'))).text)
  const response = responseIn((await exchange(port, get('/text', 'Accept-Encoding: gzip'))).text)
  if (response?.headers['content-encoding'] !== 'gzip') return 'not compressed'
  const [tag = '', own = ''] = [response.headers.etag, plain?.headers.etag]
  const change = tag === own ? 'unchanged' : tag === `W/${own}` ? 'weak' : tag === '' ? 'removed' : 'changed'
  const again = get('/text', 'Accept-Encoding: gzip', `If-None-Match: ${tag}`)
  const match = tag === '' ? '' : `, then ${responseIn((await exchange(port, again)).text)?.status}`
  return `tag ${change}${match}${/accept-encoding/i.test(response.headers.vary ?? '') ? '' : ', no Vary'}`
}
