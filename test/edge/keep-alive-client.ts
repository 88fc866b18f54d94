import { connect, type Socket } from 'node:net'

/** The result of one request. */
export type CreateResponse = {
  /** The HTTP status, or the error code of the connection; `CLOSED` when the service closed it without an answer. */
  status: number | string
  /** Seconds of Retry-After. */
  retryAfter: number | undefined
  /** Milliseconds of `performance.now()`. */
  sentAt: number
  endedAt: number
}

export type Client = {
  /** Creates a plant with a new id; resolves with the complete answer. Takes one call at a time. */
  create(): Promise<CreateResponse>
  close(): void
}

/** All ids have the same number of digits, so that every request of a client has the same head. */
let lastId = 10 ** 12

/**
 * Creates a client with one keep-alive connection to a loopback port. It connects with the first request, and again
 * after the service closed the connection. It uses a raw socket, because node:http would cost more than the service
 * under test.
 */
export function newClient(port: number, token: string): Client {
  const bodyOf = (id: number) => `{"id":${id},"name":"Monstera ${id}"}`
  const head = [
    'POST /plants HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${bodyOf(lastId).length}`,
    '\r\n',
  ].join('\r\n')
  let socket: Socket | undefined
  let received = ''
  let sentAt = 0
  let settle: ((answer: CreateResponse) => void) | undefined

  const end = (status: number | string, retryAfter?: number) => {
    settle?.({ status, retryAfter, sentAt, endedAt: performance.now() })
    settle = undefined
  }

  const open = (): Socket => {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    const gone = (status: string) => {
      if (socket !== opened) return
      socket = undefined
      end(status)
    }
    opened
      .on('error', (error: Error & { code?: string }) => gone(error.code ?? error.message))
      .on('close', () => gone('CLOSED'))
      .on('data', (text: string) => {
        if (socket !== opened) return
        received += text
        const headEnd = received.indexOf('\r\n\r\n')
        const [, length] = /\r\ncontent-length: (\d+)/i.exec(received) ?? []
        if (headEnd === -1 || received.length < headEnd + 4 + Number(length)) return
        if (/\r\nconnection: close/i.test(received)) {
          socket = undefined
          opened.end()
        }
        const [, after] = /\r\nretry-after: (\d+)/i.exec(received) ?? []
        end(Number(received.slice(9, 12)), after === undefined ? undefined : Number(after))
      })
    return opened
  }

  return {
    create() {
      return new Promise((resolve) => {
        received = ''
        settle = resolve
        sentAt = performance.now()
        socket ??= open()
        socket.write(head + bodyOf(++lastId))
      })
    },
    close() {
      socket?.destroy()
      socket = undefined
    },
  }
}
