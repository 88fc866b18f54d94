import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { logFailure } from './request-context.ts'
import type { Hook } from './request-guards.ts'

/** The signals that end a request or response stream. */
export type StreamScope = {
  /** For the handler: aborts when the client disconnects, the handler times out, or the service is shutting down. */
  signal: AbortSignal
  /** Aborts when the response has ended or its connection closes. */
  gone: AbortSignal
}

type Opened = StreamScope & { abort(reason: Error): void }

const scopeKey = Symbol('stream scope')

type Request = IncomingMessage & { [scopeKey]?: Opened }

/** The signals of handlers that have timed out. Their reason may be an earlier disconnect or shutdown. */
const late = new WeakSet<AbortSignal>()

const abortError = (message: string): Error => new DOMException(message, 'AbortError')

/**
 * Returns the hook that opens a stream scope for a request. With `endsAtShutdown`, shutdown aborts the handler's
 * signal.
 */
export type OpenScopes = (options: { endsAtShutdown: boolean }) => Hook

/**
 * Returns a factory of hooks that open stream scopes. Call it before trackConnections: at shutdown the streams must be
 * aborted before the app waits for its connections to close.
 */
export function openStreamScopes(app: FastifyInstance): OpenScopes {
  const open = new Set<Opened>()
  let isClosing = false
  const shutdown = abortError('the service is shutting down')
  app.addHook('preClose', function abortAll(done) {
    isClosing = true
    for (const { abort } of open) abort(shutdown)
    done()
  })
  return function scopeOpener({ endsAtShutdown }) {
    return function openScope({ raw }, reply, done) {
      const handler = new AbortController()
      const client = new AbortController()
      const abort = (reason: Error) => handler.abort(reason)
      const scope = { signal: handler.signal, gone: client.signal, abort }
      ;(raw as Request)[scopeKey] = scope
      if (endsAtShutdown) open.add(scope)
      const close = () => {
        open.delete(scope)
        const reason = abortError('the connection is closed')
        client.abort(reason)
        if (!reply.raw.writableFinished) handler.abort(reason)
      }
      // The connection may have closed during an earlier asynchronous hook.
      if (reply.raw.destroyed) close()
      else reply.raw.once('close', close)
      if (isClosing && endsAtShutdown) abort(shutdown)
      done()
    }
  }
}

/** Returns the stream scope of a request, which the hook of its route has opened. */
export const streamScope = (request: IncomingMessage): StreamScope => (request as Request)[scopeKey] as Opened

/** Aborts the handler's signal after its timeout, if the request has a stream scope. */
export function abortStream(request: IncomingMessage): void {
  const scope = (request as Request)[scopeKey]
  if (scope === undefined) return
  late.add(scope.signal)
  scope.abort(abortError('the handler took too long'))
}

/** Returns whether the handler of a signal has timed out. */
export const isLate = (signal: AbortSignal): boolean => late.has(signal)

/** A response body that a handler gives in parts: a Node.js stream, a web stream, or a generator. */
export type ByteStream = AsyncIterable<Uint8Array>

/** A source; Node.js streams have `destroy`. */
type Source<Item> = AsyncIterable<Item> & { destroy?(): void; on?(event: 'error', listener: () => void): unknown }

type Settled<Item> = { result: IteratorResult<Item> } | { error: unknown }

/** How the items of a source are written as parts of a body. */
export type Parts<Item> = {
  /** Serializes an item. Throws for an item that must not be sent. */
  write(item: Item): Uint8Array | string
  /** Ends the parts, even if the source has more items. */
  end: AbortSignal
  /** Yields `text` when the source is idle: first after `opening` milliseconds, then every `time` milliseconds. */
  keepAlive?: { opening: number; time: number; text: string }
}

/**
 * Milliseconds for which all streams of the process together may occupy the event loop before other work gets a turn.
 */
const turnTime = 5

/** The turn of the event loop in which streams are read now. It is shared, since many short turns add up to seconds. */
let turn: { end: number; over: Promise<void> } | undefined

/**
 * Returns the end of this turn of the event loop if the streams have used up their time in it. A source that always has
 * an item ready resolves its promises without a turn of the event loop, and so would starve everything else.
 */
function endOfTurn(): Promise<void> | undefined {
  const now = performance.now()
  if (turn !== undefined) return now < turn.end ? undefined : turn.over
  const over = new Promise<void>(function endTurn(resolve) {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  turn = { end: now + turnTime, over }
  return undefined
}

/**
 * Yields the written items of a source. It requests an item after the previous one was consumed, so it holds at most
 * one. It ends the source when the reader stops.
 */
export async function* streamParts<Item>(source: Source<Item>, { write, end, keepAlive }: Parts<Item>) {
  const iterator = source[Symbol.asyncIterator]()
  let settled: Settled<Item> | undefined
  let wake = ignore
  let silence = keepAlive?.opening
  const settle = (value: Settled<Item>) => {
    settled = value
    wake()
  }
  // Not a shared promise, because each item that awaits it would leave a reaction in memory.
  const stop = () => wake()
  end.addEventListener('abort', stop)
  try {
    for (;;) {
      for (let over = endOfTurn(); over !== undefined; over = endOfTurn()) await over
      if (end.aborted) return
      settled = undefined
      iterator.next().then(
        (result) => settle({ result }),
        (error) => settle({ error }),
      )
      const next = yield* nextSettled()
      if (next === undefined) return
      if ('error' in next) throw next.error
      if (next.result.done === true) return
      for (let over = endOfTurn(); over !== undefined; over = endOfTurn()) await over
      yield write(next.result.value)
    }
  } finally {
    end.removeEventListener('abort', stop)
    endSource(source, iterator)
  }

  /** Waits for the next item and yields keep-alive texts meanwhile. Returns undefined if the parts have ended. */
  async function* nextSettled(): AsyncGenerator<string, Settled<Item> | undefined> {
    for (;;) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        wake = resolve
        if (keepAlive !== undefined) timer = setTimeout(resolve, silence)
        if (settled !== undefined || end.aborted) resolve()
      })
      clearTimeout(timer)
      silence = keepAlive?.time
      if (end.aborted) return undefined
      if (settled !== undefined) return settled
      if (keepAlive !== undefined) yield keepAlive.text
    }
  }
}

/**
 * Lets a Node.js stream fail before it is read, such as that of a missing file: without a listener, its error would end
 * the process. The stream keeps the error for its reader.
 */
export const keepError = (source: Source<unknown>): void => {
  source.on?.('error', ignore)
}

/** Ends a source that is no longer read, and ignores errors of its cleanup. */
export function endSource(source: Source<unknown>, iterator?: AsyncIterator<unknown>): void {
  const end = async () => {
    // A stream may emit an error even after it was destroyed.
    keepError(source)
    if (typeof source.destroy === 'function') source.destroy()
    else await (iterator ?? source[Symbol.asyncIterator]()).return?.()
  }
  end().catch(ignore)
}

const ignore = () => {}

type Part = Uint8Array | string

/**
 * Sends parts as a response body, with backpressure. The head is sent with the first part. If the source fails before
 * that, the promise rejects and nothing is sent, so that the caller can send an error response. `begin` sets the
 * headers. A later error is logged and destroys the connection.
 */
export async function sendStream(reply: FastifyReply, parts: AsyncGenerator<Part>, begin: () => void): Promise<void> {
  const first = await parts.next()
  begin()
  // No part is read ahead; the socket has the only buffer.
  reply.send(Readable.from(resumed(first, parts, reply), { objectMode: false, highWaterMark: 0 }))
}

/** Yields the first part and then the others. Logs an error of the source, since the head has been sent. */
async function* resumed(first: IteratorResult<Part>, parts: AsyncGenerator<Part>, { request }: FastifyReply) {
  if (first.done === true) return
  yield first.value
  try {
    yield* parts
  } catch (error) {
    logFailure(request, error)
    throw error
  }
}

/** Sends the response to a HEAD request for which GET would send a stream. */
export function sendHead(reply: FastifyReply): void {
  // Without a payload Fastify would add Content-Length: 0.
  reply.send(Readable.from([]))
}

/** A server-sent event (WHATWG HTML, section 9.2.6). `data` is sent as it is if it is a string, else as JSON. */
export type ServerSentEvent<Data = unknown> = {
  data: Data
  event?: string
  id?: string
  /** Milliseconds after which a client reconnects. */
  retry?: number
}

/** A comment, which clients ignore; it keeps the connection alive. */
export const keepAliveComment = ':\n\n'

/**
 * Returns the text of an event. `write` validates the data and serializes it to JSON. Throws for an `event`, `id` or
 * `retry` that is invalid in an event stream.
 */
export function serializeEvent({ data, event, id, retry }: ServerSentEvent, write: (data: unknown) => string): string {
  const json = write(data)
  const text = typeof data === 'string' ? data : json
  if (retry !== undefined && !(Number.isSafeInteger(retry) && retry >= 0)) {
    throw new Error('retry of an event must be an integer number of milliseconds')
  }
  const fields = [
    ...(event === undefined ? [] : [`event: ${line('event', event)}`]),
    ...(id === undefined ? [] : [`id: ${line('id', id)}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...text.split(/\r\n|\r|\n/).map((each) => `data: ${each}`),
  ]
  return `${fields.join('\n')}\n\n`
}

function line(name: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a client ignores an id with NUL
  if (/[\r\n\u0000]/.test(text)) throw new Error(`${name} of an event must be one line without NUL`)
  return text
}
