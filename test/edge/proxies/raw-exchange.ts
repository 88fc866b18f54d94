import { connect } from 'node:net'

/** What a client receives on one connection. */
export type Exchange = {
  text: string
  /** The parts of the text, with the times (ms) of their arrival. */
  parts: { at: number; text: string }[]
  /** How the connection ended; undefined if it is still open. */
  end: 'closed' | 'reset' | undefined
}

export type ExchangeOptions = {
  /** Ends the exchange once the text received so far is enough. */
  until?: (text: string) => boolean
  /** Milliseconds after which the exchange ends. */
  limit?: number
  /** Bytes that follow the request. The client reads nothing before it has sent all of them. */
  body?: Buffer
}

/** Sends bytes over a new connection; resolves with what arrives until it ends. */
export function exchange(port: number, request: string, options: ExchangeOptions = {}): Promise<Exchange> {
  const { until = isWhole, limit = 10_000, body } = options
  const received: Exchange = { text: '', parts: [], end: undefined }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  return new Promise((resolve) => {
    const finish = (end?: Exchange['end']) => {
      received.end ??= end
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(finish, limit)
    if (body !== undefined) socket.pause()
    socket
      .setEncoding('latin1')
      .on('data', (text: string) => {
        received.text += text
        received.parts.push({ at: performance.now(), text })
        if (until(received.text)) finish()
      })
      .on('end', () => finish('closed'))
      .on('error', () => finish('reset'))
      .on('close', () => finish('closed'))
    socket.write(request, 'latin1')
    if (body !== undefined) socket.write(body, () => socket.resume())
  })
}

let queries = 0

/** Returns a request without a body. Its query is new, so that no proxy has a stored response. */
export const get = (path: string, ...headers: string[]): string =>
  [`GET ${path}?${++queries} HTTP/1.1`, 'Host: shop.example', ...headers, '\r\n'].join('\r\n')

/** Returns the head of a request with JSON. */
export const post = (path: string, ...headers: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: shop.example', 'Content-Type: application/json', ...headers, '\r\n'].join('\r\n')

export type Response = { status: number; headers: Record<string, string>; body: string; isWhole: boolean }

/** Parses the first final response of a text. `isWhole` is whether its own framing says that it is complete. */
export function responseIn(text: string): Response | undefined {
  const [, informational = ''] = /^((?:HTTP\/1\.\d 1\d\d .*?\r\n\r\n)*)/s.exec(text) ?? []
  const rest = text.slice(informational.length)
  const at = rest.indexOf('\r\n\r\n')
  const [, status] = /^HTTP\/1\.\d (\d+)/.exec(rest) ?? []
  if (at === -1 || status === undefined) return undefined
  const headers: Record<string, string> = {}
  for (const line of rest.slice(0, at).split('\r\n').slice(1)) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    headers[name.toLowerCase()] = value
  }
  const body = rest.slice(at + 4)
  if (headers['transfer-encoding'] === 'chunked')
    return { status: Number(status), headers, body: withoutChunks(body), isWhole: /(^|\r\n)0\r\n\r\n$/.test(body) }
  const length = headers['content-length']
  const isWhole = length !== undefined && body.length >= Number(length)
  return { status: Number(status), headers, body, isWhole }
}

/** Returns whether a text has a complete response, by its own framing. */
export const isWhole = (text: string): boolean => responseIn(text)?.isWhole ?? false

function withoutChunks(body: string): string {
  let text = ''
  for (let rest = body; ; ) {
    const [line = '', size = ''] = /^([\da-f]+)[^\r]*\r\n/i.exec(rest) ?? []
    const length = Number.parseInt(size, 16)
    if (!(length > 0)) return text
    text += rest.slice(line.length, line.length + length)
    rest = rest.slice(line.length + length + 2)
  }
}

/** Returns whether a response has an error body of the service. */
export const isOwnError = ({ body }: Response): boolean => /^\{"error":\d{5},/.test(body)
