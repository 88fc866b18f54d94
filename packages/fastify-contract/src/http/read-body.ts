import { isUtf8 } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { JsonDocument } from '../json/json-document.ts'
import { JsonError, parseJson } from '../json/parse-json.ts'
import { checkTrailerSize } from './connection-state.ts'
import { bodyTooLarge, ContractError, overloaded } from './errors.ts'
import { contentLength, decodeText, parseQuery } from './request-head.ts'

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
export const wholeBodyReader =
  (parse: ParseBody, { limit, headersLimit, memory }: WholeLimits): BodyReader =>
  ({ headers, raw }, _payload, done) => {
    readBody(raw, { announced: contentLength(headers), limit, memory }, (error, bytes) => {
      if (bytes === undefined) {
        done(error)
        return
      }
      const rejection = checkTrailerSize(raw, bytes.length, headersLimit) ?? memory.checkFits(bytes.length)
      if (rejection !== undefined) {
        done(rejection)
        return
      }
      let body: unknown
      try {
        body = parse(bytes)
      } catch (error) {
        done(error as Error)
        return
      }
      // Outside of the try block, which must not catch errors of the next steps.
      done(null, body)
    })
  }

/** Parses strict JSON to a JsonDocument; anything else gets 400. */
export function parseJsonBody(bytes: Buffer): JsonDocument {
  try {
    return parseJson(decodeJson(bytes))
  } catch (error) {
    throw new ContractError('notJson', `body cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
}

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
export function parseText(bytes: Buffer): JsonDocument {
  const text = textOf(bytes, 'body')
  return { value: text, length: text.length }
}

/** The percent-encoded values of a form (application/x-www-form-urlencoded) by name, and the length of its text. */
export type FormTexts = { texts: Record<string, string[]>; length: number }

/** Returns a parser for forms with at most `fieldsLimit` fields. */
export const formParser =
  (fieldsLimit: number) =>
  (bytes: Buffer): FormTexts => {
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
  }

function countFields(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++
  return count
}

/** Returns the error for a form with more than `limit` fields or parts. */
export const tooManyFields = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the form has more than ${limit} fields`)

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

/** In V8 a parsed body takes up to this many times the size of its text: `{"25":0}` takes 32 times, most bodies 3. */
const valueFactor = 32

/** Accounts for the memory of request bodies. */
export type BodyMemory = ReturnType<typeof bodyMemory>

/**
 * Creates two memory budgets of `limit` bytes each: one for bodies that arrive, and one for parsed bodies. Calls `shed`
 * for each rejected body. A body is never rejected while it is the only one.
 */
export function bodyMemory(limit: number, shed: () => void) {
  let arriving = 0
  let values = 0
  const rejection = (): ContractError => {
    shed()
    return overloaded('the service has no memory left for the body')
  }
  return {
    /**
     * Reserves memory for `bytes` more of a body that has already reserved `held`. Returns an error if there is not
     * enough left.
     */
    reserve(bytes: number, held: number): ContractError | undefined {
      if (arriving > held && arriving + bytes > limit) return rejection()
      arriving += bytes
      return undefined
    },
    /** Releases reserved memory. */
    release(bytes: number): void {
      arriving -= bytes
    },
    /**
     * Returns an error if the parsed value of `bytes` more of a body does not fit beside the values that `hold` counts.
     * Of these, `held` bytes belong to the same body. The caller of the handler calls `hold`.
     */
    checkFits(bytes: number, held = 0): ContractError | undefined {
      const isAlone = values === valueFactor * held
      const fits = bytes < smallBody || isAlone || values + valueFactor * bytes <= limit
      return fits ? undefined : rejection()
    },
    /** Counts the parsed value of a body until a promise settles, and returns that promise. */
    hold<Value>(bytes: number, until: Promise<Value>): Promise<Value> {
      if (bytes < smallBody) return until
      values += valueFactor * bytes
      const release = () => {
        values -= valueFactor * bytes
      }
      until.then(release, release)
      return until
    },
  }
}

/** Initial size of a buffer in bytes; it doubles whenever it is full. */
const firstCapacity = 4_096

/**
 * A buffer for bytes that arrive in chunks: a list of chunks would cost 250 bytes for each, which may hold one byte.
 */
export class GrowingBuffer {
  #buffer = Buffer.alloc(0)
  #length = 0
  readonly #memory: BodyMemory | undefined
  readonly #limit: number

  /** The buffer reserves its size in `memory`, and does not grow beyond `limit` bytes. */
  constructor(memory?: BodyMemory, limit = Number.POSITIVE_INFINITY) {
    this.#memory = memory
    this.#limit = limit
  }

  get length(): number {
    return this.#length
  }

  /** The bytes that were added, without a copy. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Adds a chunk. Returns an error if the memory budget is exceeded. */
  add(chunk: Buffer): ContractError | undefined {
    const needed = this.#length + chunk.length
    const { length } = this.#buffer
    if (needed > length) {
      const capacity = Math.min(this.#limit, Math.max(2 * needed, firstCapacity))
      const rejection = this.#memory?.reserve(capacity - length, length)
      if (rejection !== undefined) return rejection
      const { bytes } = this
      // Without zeros: only the bytes that were added are read.
      this.#buffer = Buffer.allocUnsafeSlow(capacity)
      bytes.copy(this.#buffer)
    }
    chunk.copy(this.#buffer, this.#length)
    this.#length = needed
    return undefined
  }

  /** Releases the reserved memory. */
  release(): void {
    this.#memory?.release(this.#buffer.length)
  }
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
  else if (!hasArrived(request, announced)) collect(request, announced || limit, memory, finish)
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

/** Bytes. Smaller chunks are copied into one buffer, because the Buffer object of each costs about 250 bytes. */
const small = 1_024

/**
 * A request whose body takes about its size in memory even if its chunks are small. Node.js parses up to 64 KiB of a
 * connection at once and creates an object of about 250 bytes for each chunk. This class merges the small chunks of one
 * parse. The first chunk of a request, which is usually the only one, is passed on at once.
 */
export class CoalescingMessage extends IncomingMessage {
  #hasChunk = false
  #waiting: GrowingBuffer | undefined

  /** Bytes that were parsed and not yet read. readableLength lacks the bytes that wait to be merged. */
  get parsedLength(): number {
    return this.readableLength + (this.#waiting?.length ?? 0)
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && this.#hasChunk && chunk.length < small) return this.#wait(chunk)
    this.#hasChunk = true
    this.#pass()
    return super.push(chunk)
  }

  #wait(chunk: Buffer): boolean {
    if (this.#waiting === undefined) {
      this.#waiting = new GrowingBuffer()
      // process.nextTick would be too early: Node.js runs its callbacks after every chunk.
      setImmediate(() => this.#pass())
    }
    this.#waiting.add(chunk)
    return this.parsedLength < this.readableHighWaterMark
  }

  /** Pushes the waiting bytes, unless the request has ended. */
  #pass(): void {
    const bytes = this.#waiting?.bytes
    this.#waiting = undefined
    if (bytes !== undefined && !this.readableEnded && !this.destroyed) super.push(bytes)
  }
}
