import { connect, type Socket } from 'node:net'

/** What became of one create. */
export type Answer = {
  /** Of the answer, or the code of the connection's error; `CLOSED` when the service hung up without an answer. */
  status: number | string
  /** Seconds, where the answer says when to come again. */
  retryAfter: number | undefined
  /** Milliseconds of `performance.now()`. */
  sentAt: number
  endedAt: number
}

export type Client = {
  /** Sends a create of a plant that nobody has sent before; resolves when its answer is whole. One at a time. */
  create(): Promise<Answer>
  close(): void
}

/** All ids have as many digits: so every request of a client has the same head. */
let lastId = 10 ** 12

/**
 * A keep-alive connection to a service on the loopback address, as lean as can be: it must not be what is measured. It
 * connects with the first request, and anew when the service has closed it.
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
  let settle: ((answer: Answer) => void) | undefined

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
