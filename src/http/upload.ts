import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTooLarge, ContractError } from './errors.ts'
import { checkTrailerSize } from './header-limit.ts'
import { contentLength } from './request-head.ts'
import { type ByteSource, tapStream } from './tapped-stream.ts'

/** What bounds a body that its handler reads as a stream. */
export type UploadLimits = {
  /** Bytes of the body. */
  bytes: number
  /** Fields of a form, and parts of one that has files. */
  fields: number
}

type Opened = {
  stream: ByteSource
  /** Resolves when the answer has left, or never will. */
  over: Promise<void>
  /** Why the stream ended before its end. */
  failure: ContractError | undefined
  /** Whether its client still waits to be asked for the body. */
  isAwaited: boolean
}

const key = Symbol('upload')

type Uploading = IncomingMessage & { [key]?: Opened }

/** The largest unread body that is drained to keep the connection; for a larger one the connection is closed. */
export const readAndDropped = 65_536

/**
 * Opens the body of a request as a stream of at most `limit` bytes. The body is not read before the stream is. It ends
 * with a ContractError for a body that is too large or breaks off, and at the latest when the answer has left.
 */
export function openUpload(
  request: Uploading,
  response: ServerResponse,
  { limit, headersLimit }: { limit: number; headersLimit: number },
): ByteSource {
  // An earlier hook may have waited until the connection was gone.
  const isClosed = response.destroyed
  const opened: Opened = {
    stream: undefined as never,
    over: isClosed ? Promise.resolve() : new Promise((resolve) => response.once('close', resolve)),
    failure: undefined,
    isAwaited: isExpecting(request),
  }
  const check = (length: number, isWhole: boolean) => {
    if (length > limit) opened.failure = bodyTooLarge(limit)
    else if (isWhole) opened.failure = checkTrailerSize(request, length, headersLimit)
    return opened.failure
  }
  const begin = () => {
    // RFC 9110 section 10.1.1: whatever refuses the request before its handler reads has spared the client its body.
    if (opened.isAwaited) response.writeContinue()
    opened.isAwaited = false
  }
  const stream = tapStream(request, { begin, check })
  const breakOff = () => {
    if (request.complete) return
    opened.failure ??= new ContractError('malformedRequest', 'the body is not whole')
    stream.destroy(opened.failure)
  }
  request.once('close', breakOff)
  // Before "close"; without a listener it would end the process.
  request.on('error', ignore)
  const close = () => {
    if (!response.writableFinished) breakOff()
    stream.destroy(stream.readableEnded ? undefined : new Error('the answer has left'))
    // Node reads on only by itself where nothing has been read.
    if (!request.complete) request.resume()
  }
  if (isClosed) close()
  else response.once('close', close)
  opened.stream = stream
  request[key] = opened
  return stream
}

/** Returns the body of a request that was opened as a stream. */
export const uploadOf = (request: Uploading): Pick<Opened, 'stream' | 'over'> => request[key] as Opened

const isExpecting = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.expect !== undefined && httpVersion === '1.1'

const ignore = () => {}

/** Returns why the stream of a request ended before its end, if it did. */
export const uploadFailure = (request: Uploading): ContractError | undefined => request[key]?.failure

/** Closes the connection behind the answer of a request whose handler has left more of the body than is worth reading. */
export function closeUnread(request: Uploading, response: ServerResponse): void {
  const opened = request[key]
  if (opened === undefined || request.complete) return
  const isChunked = request.headers['transfer-encoding'] !== undefined
  // A client that was not asked for its body may send it or not, so the next bytes may be the body or the next request.
  if (opened.isAwaited || isChunked || contentLength(request.headers) > readAndDropped) {
    response.shouldKeepAlive = false
  }
}
