import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { bodyTooLarge, ContractError } from '../contract/errors.ts'
import { type BodyMemory, GrowingBuffer } from './body-memory.ts'
import { checkTrailerSize } from './connection-state.ts'
import type { Hook } from './request-guards.ts'
import { contentLength } from './request-head.ts'

type Done = (error: Error | null, body?: unknown) => void

/** Parses the bytes of a body. Throws a ContractError for invalid ones. */
export type ParseBody = (bytes: Buffer) => unknown

/** A Fastify content type parser. */
export type BodyReader = (request: FastifyRequest, payload: unknown, done: Done) => void

/** The maximum bytes of a body (`limit`) and of its trailers, and the memory budget that all bodies share. */
export type WholeLimits = { limit: number; headersLimit: number; memory: BodyMemory }

/**
 * Returns a content type parser that reads a whole body and passes it to `parse`. A body above the limit gets 413, and
 * one that exceeds the memory budget gets 503.
 */
export function wholeBodyReader(parse: ParseBody, { limit, headersLimit, memory }: WholeLimits): BodyReader {
  return function readWhole({ headers, raw }, _payload, done) {
    readBody(raw, { announced: contentLength(headers), limit, memory }, function parseWhole(error, bytes) {
      if (bytes === undefined) return done(error)
      const rejection = checkTrailerSize(raw, bytes.length, headersLimit) ?? memory.checkFits(bytes.length)
      if (rejection !== undefined) return done(rejection)
      let body: unknown
      try {
        runCheck(raw, bytes)
        body = parse(bytes)
      } catch (error) {
        return done(error as Error)
      }
      // Outside of the try block, which must not catch errors of the next steps.
      done(null, body)
    })
  }
}

/** Checks the bytes of a body. Throws a ContractError to reject the request. */
export type CheckBytes = (bytes: Buffer) => void

type Settle = (error: ContractError | null, bytes?: Buffer) => void

const lengthKey = Symbol('length of the body')
const checkKey = Symbol('check of the bytes of the body')

type Reading = IncomingMessage & { [lengthKey]?: number; [checkKey]?: CheckBytes | undefined }

/** Adds a check of the bytes of a request's body, as they were sent. It runs before they are parsed. */
export function checkBeforeParsing(request: Reading, check: CheckBytes): void {
  const earlier = request[checkKey]
  request[checkKey] = function checkBytes(bytes) {
    earlier?.(bytes)
    check(bytes)
  }
}

function runCheck(request: Reading, bytes: Buffer): void {
  const check = request[checkKey]
  if (check === undefined) return
  request[checkKey] = undefined
  check(bytes)
}

/** Runs the check of a body that was not read because it is empty. */
export const checkEmptyBody: Hook = ({ raw }, _reply, done) => {
  try {
    runCheck(raw, Buffer.alloc(0))
  } catch (error) {
    return done(error as Error)
  }
  done()
}

/** Returns whether all bytes of a request were received. */
export const isAllRead = (request: Reading): boolean => request.complete || request[lengthKey] !== undefined

/** Returns the number of bytes of the body that was read; 0 if there was none. */
export const bodyLength = (request: Reading): number => request[lengthKey] ?? 0

/**
 * Reads the body of a request, up to `limit` bytes; `announced` is its Content-Length. Calls `done` once: with the
 * bytes, or with a ContractError for a body that is too large, incomplete, or exceeds the memory budget.
 */
export function readBody(
  request: Reading,
  { announced, limit, memory }: { announced: number; limit: number; memory: BodyMemory },
  done: Settle,
): void {
  const finish: Settle = (error, bytes) => {
    if (bytes !== undefined) request[lengthKey] = bytes.length
    done(error, bytes)
  }
  if (announced > limit) finish(bodyTooLarge(limit))
  else if (!hasArrived(request, announced)) collect(request, announced || limit, memory, finish)
  else {
    // A direct read costs far less than stream events. Node.js sets `complete` only later.
    // Without a size, Node.js 26 returns the first chunk only. After a read of all bytes, only another read emits "end".
    const bytes = request.read(request.readableLength) ?? Buffer.alloc(0)
    request.read(0)
    if (bytes.length > limit) finish(bodyTooLarge(limit))
    else finish(null, bytes)
  }
}

/** Returns whether the whole body is buffered, which it usually is after authentication. */
const hasArrived = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  complete || (announced > 0 && readableLength === announced)

function collect(request: IncomingMessage, limit: number, memory: BodyMemory, done: Settle): void {
  const buffer = new GrowingBuffer(memory, limit)
  const settle: Settle = (error, whole) => {
    request.off('data', take).off('end', end).off('close', abort)
    buffer.release()
    done(error, whole)
  }
  const take = (chunk: Buffer) => {
    const rejection = buffer.length + chunk.length > limit ? bodyTooLarge(limit) : buffer.add(chunk)
    if (rejection !== undefined) settle(rejection)
  }
  const end = () => settle(null, buffer.bytes)
  // The connection is closed, so this error is only logged and counted.
  const abort = () => settle(new ContractError('malformedRequest', 'the body is incomplete'))
  request.on('data', take).on('end', end).on('close', abort)
  // "error" precedes "close"; without a listener it would end the process.
  request.on('error', ignore)
}

/** Defined at module level: a closure in `collect` would keep the bytes in memory as long as the request. */
const ignore = () => {}
