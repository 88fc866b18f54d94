import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, ContractError } from './errors.ts'

/** Bytes; what smaller bodies hold in memory is bounded by the number of requests. */
export const smallBody = 1_024

/** Counts what bodies hold in memory; returns the error for a body that there is no room for. */
export type BodyMemory = {
  /** Counts more bytes for a body that arrives in parts and has `taken` already, unless there is no room. */
  take(bytes: number, taken: number): ContractError | undefined
  release(bytes: number): void
  /** Asks whether there is room for the value of so many bytes more of a body of which `held` are counted already. */
  admit(bytes: number, held?: number): ContractError | undefined
  /** Counts that value until the handler that has got it has its outcome, which it returns. */
  during<Outcome>(bytes: number, outcome: Promise<Outcome>): Promise<Outcome>
}

type Done = (error: ContractError | null, bytes?: Buffer) => void

const key = Symbol('length of the body')

type Reading = IncomingMessage & { [key]?: number }

/** Whether no byte of the request is still to come. */
export const isAllRead = (request: Reading): boolean => request.complete || request[key] !== undefined

/** The bytes of the body that was read, 0 where there was none. */
export const bodyLength = (request: Reading): number => request[key] ?? 0

/**
 * Reads the body of a request, of at most `limit` bytes. Calls `done` once: with the bytes, or with the ContractError for
 * a body that is too large, that there is no room for, or that ends before it is whole.
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
    // None of a stream's events is needed, which cost far more. Node will say only later that the request is complete.
    const bytes = request.read() ?? Buffer.alloc(0)
    if (bytes.length > limit) finish(bodyTooLarge(limit))
    else finish(null, bytes)
  }
}

/** Usually true after authentication. */
const hasArrived = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  complete || (announced > 0 && readableLength === announced)

/** Bytes at first; doubled whenever they are full. */
const firstCapacity = 4_096

function collect(request: IncomingMessage, limit: number, memory: BodyMemory, done: Done): void {
  // One buffer: a list of parts costs 250 bytes for each, and a part may be one byte.
  let bytes = Buffer.alloc(0)
  let length = 0
  const settle: Done = (error, whole) => {
    request.off('data', take).off('end', end).off('close', breakOff)
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
  // Nobody gets this answer: the connection is gone.
  const breakOff = () => settle(new ContractError('malformedRequest', 'the body is not whole'))
  request.on('data', take).on('end', end).on('close', breakOff)
  // Before "close"; without a listener it would end the process.
  request.on('error', ignore)
}

/** Shares no scope with the bytes, which would then live as long as the request. */
const ignore = () => {}
