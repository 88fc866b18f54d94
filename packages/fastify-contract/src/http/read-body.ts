import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { JsonDocument } from '../json/json-document.ts'
import { JsonError, parseJson } from '../json/parse-json.ts'
import { checkTrailerSize } from './connection-state.ts'
import { bodyTooLarge, ContractError } from './errors.ts'
import { contentLength, decodeText, parseQuery } from './request-head.ts'

type Done = (error: Error | null, body?: unknown) => void

/** Parses the bytes of a body. Calls `done` once, with the parsed body or with an error. */
export type ParseBody = (bytes: Buffer, done: Done) => void

/** A Fastify content type parser. */
export type BodyReader = (request: FastifyRequest, payload: unknown, done: Done) => void

/** The maximum bytes of a body (`limit`) and of its trailers, and the memory budget that all bodies share. */
export type WholeLimits = { limit: number; headersLimit: number; memory: BodyMemory }

/**
 * Returns a content type parser that reads a whole body and passes it to `parse`. A body above the limit gets 413, and
 * one that exceeds the memory budget gets 503.
 */
export const wholeBodyReader =
  (parse: ParseBody, { limit, headersLimit, memory }: WholeLimits): BodyReader =>
  ({ headers, raw }, _payload, done) => {
    readBody(raw, { announced: contentLength(headers), limit, memory }, (error, bytes) => {
      if (bytes === undefined) {
        done(error)
        return
      }
      const refusal = checkTrailerSize(raw, bytes.length, headersLimit) ?? memory.admit(bytes.length)
      if (refusal !== undefined) done(refusal)
      else parse(bytes, done)
    })
  }

/** Parses strict JSON to a JsonDocument; anything else gets 400. */
export const parseJsonBody: ParseBody = (bytes, done) =>
  callWithResult(done, (): JsonDocument => {
    try {
      return parseJson(decodeJson(bytes))
    } catch (error) {
      throw new ContractError('notJson', `body is not JSON: ${(error as JsonError).message}`)
    }
  })

/**
 * Decodes UTF-8 text as strictly as JSON. NUL is not allowed, because some stores truncate a text there. Throws a
 * ContractError that names `part`.
 */
export function textOf(bytes: Buffer, part: string): string {
  let text: string
  try {
    text = decodeJson(bytes)
  } catch {
    throw new ContractError('invalid', `${part} is not UTF-8`)
  }
  if (text.includes('\0')) throw new ContractError('invalid', `${part} contains the character U+0000`)
  return text
}

/** Parses a text body to a JsonDocument that holds one string. */
export const parseText: ParseBody = (bytes, done) =>
  callWithResult(done, (): JsonDocument => {
    const text = textOf(bytes, 'body')
    return { value: text, length: text.length }
  })

/** The percent-encoded values of a form (application/x-www-form-urlencoded) by name, and the length of its text. */
export type FormTexts = { texts: Record<string, string[]>; length: number }

/** Returns a parser for forms with at most `fieldsLimit` fields; it produces FormTexts. */
export const formParser =
  (fieldsLimit: number): ParseBody =>
  (bytes, done) =>
    callWithResult(done, (): FormTexts => {
      const text = textOf(bytes, 'body')
      // Counted before parsing, since a parsed field with a name of one byte takes a hundred bytes of memory.
      if (countFields(text) > fieldsLimit) throw tooManyFields(fieldsLimit)
      if (/%00/.test(text)) throw new ContractError('invalid', 'body contains the character U+0000')
      try {
        decodeText(text)
      } catch {
        throw new ContractError('invalid', 'body is not percent-encoded UTF-8')
      }
      return { texts: parseQuery(text), length: text.length }
    })

function countFields(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++
  return count
}

/** Returns the error for a form with more than `limit` fields or parts. */
export const tooManyFields = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the form has more than ${limit} fields`)

/** Calls `done` with the result of `parse`, or with the error that it throws. */
function callWithResult(done: Parameters<ParseBody>[1], parse: () => unknown): void {
  let body: unknown
  try {
    body = parse()
  } catch (error) {
    done(error as Error)
    return
  }
  // Outside of the try block, which must not catch errors of the next steps.
  done(null, body)
}

/**
 * Decodes JSON text, which must be UTF-8; a leading byte order mark is ignored (RFC 8259 section 8.1). Throws a
 * JsonError for other bytes.
 */
export function decodeJson(bytes: Buffer): string {
  const text = bytes.toString()
  // The decoder replaces invalid bytes with U+FFFD, which may also occur in valid text.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new JsonError('it is not UTF-8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Bytes. The parsed values of smaller bodies are not counted: the limit on concurrent requests bounds their memory. */
export const smallBody = 1_024

/** Accounts for the memory of request bodies. `take` and `admit` return the error for a body that does not fit. */
export type BodyMemory = {
  /** Reserves more bytes for a body that arrives in parts and already holds `taken` bytes. */
  take(bytes: number, taken: number): ContractError | undefined
  /** Releases the bytes that `take` reserved. */
  release(bytes: number): void
  /** Checks that the parsed value of `bytes` more bytes fits, for a body of which `held` bytes are already counted. */
  admit(bytes: number, held?: number): ContractError | undefined
  /** Counts the parsed value until the handler's outcome settles, and returns that outcome. */
  during<Outcome>(bytes: number, outcome: Promise<Outcome>): Promise<Outcome>
}

type Settle = (error: ContractError | null, bytes?: Buffer) => void

const lengthKey = Symbol('length of the body')

type Reading = IncomingMessage & { [lengthKey]?: number }

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
  else if (!hasArrived(request, announced)) collect(request, limit, memory, finish)
  else {
    // A direct read costs far less than stream events. Node.js sets `complete` only later.
    const bytes = request.read() ?? Buffer.alloc(0)
    if (bytes.length > limit) finish(bodyTooLarge(limit))
    else finish(null, bytes)
  }
}

/** Returns whether the whole body is buffered, which it usually is after authentication. */
const hasArrived = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  complete || (announced > 0 && readableLength === announced)

/** Initial buffer size in bytes; the buffer doubles whenever it is full. */
const firstCapacity = 4_096

function collect(request: IncomingMessage, limit: number, memory: BodyMemory, done: Settle): void {
  // One buffer: a list of chunks would cost 250 bytes for each chunk, which may hold a single byte.
  let bytes = Buffer.alloc(0)
  let length = 0
  const settle: Settle = (error, whole) => {
    request.off('data', take).off('end', end).off('close', abort)
    memory.release(bytes.length)
    done(error, whole)
  }
  const take = (part: Buffer) => {
    const needed = length + part.length
    if (needed > limit) return settle(bodyTooLarge(limit))
    if (needed > bytes.length) {
      const capacity = Math.min(limit, Math.max(needed, 2 * bytes.length, firstCapacity))
      const refusal = memory.take(capacity - bytes.length, bytes.length)
      if (refusal !== undefined) return settle(refusal)
      bytes = Buffer.concat([bytes.subarray(0, length)], capacity)
    }
    part.copy(bytes, length)
    length = needed
  }
  const end = () => settle(null, bytes.subarray(0, length))
  // The connection is closed, so this error is only logged and counted.
  const abort = () => settle(new ContractError('malformedRequest', 'the body is incomplete'))
  request.on('data', take).on('end', end).on('close', abort)
  // "error" precedes "close"; without a listener it would end the process.
  request.on('error', ignore)
}

/** Defined at module level: a closure in `collect` would keep the bytes in memory as long as the request. */
const ignore = () => {}

/** Bytes. Smaller chunks are copied into one buffer, because the Buffer object of each costs about 250 bytes. */
const small = 1_024

/**
 * A request whose body takes about its size in memory even if its chunks are small. Node.js parses up to 64 KiB of a
 * connection at once and creates an object of about 250 bytes for each chunk. This class merges the small chunks of one
 * parse, except the first, which is usually the only one.
 */
export class CoalescingMessage extends IncomingMessage {
  #hasChunk = false
  #waiting: Buffer | undefined
  #length = 0

  /** Bytes that were parsed and not yet read. readableLength lacks the bytes that wait to be merged. */
  get parsedLength(): number {
    return this.readableLength + this.#length
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && this.#hasChunk && chunk.length < small) return this.#wait(chunk)
    this.#hasChunk = true
    this.#pass()
    return super.push(chunk)
  }

  #wait(chunk: Buffer): boolean {
    if (this.#waiting === undefined) {
      this.#waiting = Buffer.allocUnsafe(2 * small)
      // process.nextTick would be too early: Node.js runs its callbacks after every chunk.
      setImmediate(() => this.#pass())
    }
    const needed = this.#length + chunk.length
    if (needed > this.#waiting.length) this.#waiting = Buffer.concat([this.#waiting], 2 * this.#waiting.length)
    chunk.copy(this.#waiting, this.#length)
    this.#length = needed
    return this.parsedLength < this.readableHighWaterMark
  }

  /** Pushes the waiting bytes, unless the request has ended. */
  #pass(): void {
    const bytes = this.#waiting?.subarray(0, this.#length)
    this.#waiting = undefined
    this.#length = 0
    if (bytes !== undefined && !this.readableEnded && !this.destroyed) super.push(bytes)
  }
}
