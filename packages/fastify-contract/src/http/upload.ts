import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { bodyTooLarge, ContractError } from '../contract/errors.ts'
import { checkTrailerSize } from './connection-state.ts'
import { awaitsContinue } from './expectation.ts'
import { contentLength } from './request-head.ts'

type Opened = {
  stream: ByteSource
  /** Resolves when the response was sent or its connection closed. */
  done: Promise<void>
  /** The reason if the stream ended early. */
  failure: ContractError | undefined
  /** Whether the client still waits for 100 Continue. */
  awaitsContinue: boolean
}

const uploadKey = Symbol('upload')

type Uploading = IncomingMessage & { [uploadKey]?: Opened }

/** The largest unread body that is drained to keep the connection; for a larger one the connection is closed. */
export const maxDrainedBody = 65_536

/**
 * Opens the body of a request as a stream of at most `limit` bytes. Nothing is read from the connection until the
 * stream is read. The stream fails with a ContractError if the body is too large or incomplete, and is destroyed when
 * the response was sent.
 */
export function openUpload(
  request: Uploading,
  response: ServerResponse,
  { limit, headersLimit }: { limit: number; headersLimit: number },
): ByteSource {
  // The connection may have closed during an earlier asynchronous hook.
  const isClosed = response.destroyed
  const opened: Opened = {
    stream: undefined as never,
    done: isClosed ? Promise.resolve() : new Promise((resolve) => response.once('close', resolve)),
    failure: undefined,
    awaitsContinue: awaitsContinue(request),
  }
  const check = (length: number, isWhole: boolean) => {
    if (length > limit) opened.failure = bodyTooLarge(limit)
    else if (isWhole) opened.failure = checkTrailerSize(request, length, headersLimit)
    return opened.failure
  }
  const begin = () => {
    // 100 Continue is sent as late as possible: an earlier rejection saves the upload (RFC 9110 section 10.1.1).
    if (opened.awaitsContinue) response.writeContinue()
    opened.awaitsContinue = false
  }
  const stream = boundedStream(request, { onFirstRead: begin, check })
  const abort = () => {
    if (request.complete) return
    opened.failure ??= new ContractError('malformedRequest', 'the body is incomplete')
    stream.destroy(opened.failure)
  }
  request.once('close', abort)
  // "error" precedes "close"; without a listener it would end the process.
  request.on('error', ignore)
  const close = () => {
    if (!response.writableFinished) abort()
    stream.destroy(stream.readableEnded ? undefined : new Error('the response has been sent'))
    // Drains the rest of the body; Node.js does so itself only if nothing was read.
    if (!request.complete) request.resume()
  }
  if (isClosed) close()
  else response.once('close', close)
  opened.stream = stream
  request[uploadKey] = opened
  return stream
}

/** Returns the body of a request that was opened as a stream. */
export const uploadOf = (request: Uploading): Pick<Opened, 'stream' | 'done'> => request[uploadKey] as Opened

/** Returns the error with which the body stream of a request ended early, if it did. */
export const uploadFailure = (request: Uploading): ContractError | undefined => request[uploadKey]?.failure

/** Closes the connection after the response if the handler left more of the body unread than is worth draining. */
export function closeUnread(request: Uploading, response: ServerResponse): void {
  const opened = request[uploadKey]
  if (opened === undefined || request.complete) return
  const isChunked = request.headers['transfer-encoding'] !== undefined
  // Without 100 Continue a client may send its body or not, so the next bytes may be the body or another request.
  if (opened.awaitsContinue || isChunked || contentLength(request.headers) > maxDrainedBody) {
    response.shouldKeepAlive = false
  }
}

/** A byte stream that a handler reads, with backpressure. */
export type ByteSource = AsyncIterable<Buffer> & Readable

type Bounds = {
  /** Runs at the first read, before the source is read. */
  onFirstRead?(): void
  /** Returns the error that ends the stream, if any. Called for each chunk and at the end, with the length so far. */
  check?(length: number, isWhole: boolean): Error | undefined
  /** Runs when the stream is destroyed, with the source paused. */
  onDestroy?(): void
}

/** Bytes that the stream buffers before it pauses its source: one chunk of a socket. */
const highWaterMark = 65_536

/**
 * Returns a stream of the bytes of another stream. Destroying it does not destroy the source, because a request shares
 * its connection with the response.
 */
export function boundedStream(source: Readable, { onFirstRead, check, onDestroy }: Bounds): ByteSource {
  let length = 0
  let isOpen = false
  const take = (chunk: Buffer) => {
    length += chunk.length
    const error = check?.(length, false)
    if (error !== undefined) bounded.destroy(error)
    else if (!bounded.push(chunk)) source.pause()
  }
  const end = () => {
    const error = check?.(length, true)
    if (error === undefined) bounded.push(null)
    else bounded.destroy(error)
  }
  const bounded: Readable = new Readable({
    highWaterMark,
    read() {
      if (!isOpen) {
        isOpen = true
        onFirstRead?.()
        source.on('data', take).on('end', end)
      }
      source.resume()
    },
    destroy(error, done) {
      source.off('data', take).off('end', end).pause()
      onDestroy?.()
      done(error)
    },
  })
  // Without a listener, an error of a stream that nobody reads would end the process.
  bounded.on('error', ignore)
  return bounded as ByteSource
}

const ignore = () => {}
