import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RecordedResponse } from './stored-response.ts'

/**
 * Records a response instead of sending it. It stands for Fastify's reply where a response is serialized, so that the
 * response can be kept before it is sent, and also if the client has gone or got the 503 of the handler timeout.
 */
export class ResponseRecorder {
  readonly request: FastifyRequest
  readonly server: FastifyReply['server']
  /** The part of Node's response that concerns the connection. Headers of other hooks are no part of the record. */
  readonly raw: Pick<ServerResponse, 'shouldKeepAlive' | 'hasHeader' | 'getHeader'>
  readonly #reply: FastifyReply
  readonly #headers = new Map<string, [name: string, text: string | string[]]>()
  #status = 200
  #serialize: ((body: unknown) => string) | undefined
  #recorded: RecordedResponse | undefined

  constructor(reply: FastifyReply) {
    this.#reply = reply
    this.request = reply.request
    this.server = reply.server
    this.raw = {
      set shouldKeepAlive(keeps: boolean) {
        reply.raw.shouldKeepAlive = keeps
      },
      hasHeader: (name) => reply.raw.hasHeader(name),
      getHeader: () => undefined,
    }
  }

  /** Returns the response. Throws an Error if none was serialized. */
  get recorded(): RecordedResponse {
    if (this.#recorded === undefined) throw new Error('the response was not serialized at once')
    return this.#recorded
  }

  code(status: number): this {
    this.#status = status
    return this
  }

  type(mediaType: string): this {
    return this.header('content-type', mediaType)
  }

  header(name: string, text: string | string[]): this {
    this.#headers.set(name.toLowerCase(), [name, text])
    return this
  }

  headers(texts: Record<string, string>): this {
    for (const [name, text] of Object.entries(texts)) this.header(name, text)
    return this
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  getHeader(name: string): string | string[] | undefined {
    return this.#headers.get(name.toLowerCase())?.[1]
  }

  removeHeader(name: string): this {
    this.#headers.delete(name.toLowerCase())
    return this
  }

  getSerializationFunction(status: string, mediaType: string): unknown {
    return this.#reply.getSerializationFunction(status, mediaType)
  }

  serializer(serialize: (body: unknown) => string): this {
    this.#serialize = serialize
    return this
  }

  send(body?: unknown): this {
    // The serializer may add headers.
    const serialized = this.#serialize === undefined ? body : this.#serialize(body)
    this.#recorded = new RecordedResponse({
      status: this.#status,
      texts: [...this.#headers.values()],
      body: serialized as RecordedResponse['body'],
    })
    return this
  }
}
