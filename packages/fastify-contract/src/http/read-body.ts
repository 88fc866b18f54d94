import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, ContractError } from './errors.ts'

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

type Done = (error: ContractError | null, bytes?: Buffer) => void

const key = Symbol('length of the body')

type Reading = IncomingMessage & { [key]?: number }

/** Returns whether all bytes of a request were received. */
export const isAllRead = (request: Reading): boolean => request.complete || request[key] !== undefined

/** Returns the number of bytes of the body that was read; 0 if there was none. */
export const bodyLength = (request: Reading): number => request[key] ?? 0

/**
 * Reads the body of a request, up to `limit` bytes; `announced` is its Content-Length. Calls `done` once: with the
 * bytes, or with a ContractError for a body that is too large, incomplete, or exceeds the memory budget.
 */
export function readBody(
  request: Reading,
  { announced, limit, memory }: { announced: number; limit: number; memory: BodyMemory },
  done: Done,
): void {
  const finish: Done = (error, bytes) => {
    if (bytes !== undefined) request[key] = bytes.length
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

function collect(request: IncomingMessage, limit: number, memory: BodyMemory, done: Done): void {
  // One buffer: a list of chunks would cost 250 bytes for each chunk, which may hold a single byte.
  let bytes = Buffer.alloc(0)
  let length = 0
  const settle: Done = (error, whole) => {
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
