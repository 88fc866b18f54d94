import type { IncomingMessage } from 'node:http'
import { ContractError } from './errors.ts'

type Done = (error: ContractError | null, bytes?: Buffer) => void

const key = Symbol('all read')

type Reading = IncomingMessage & { [key]?: boolean }

/** Whether no byte of the request is still to come. */
export const isAllRead = (request: Reading): boolean => request.complete || request[key] === true

/**
 * Reads the body of a request, of at most `limit` bytes. Calls `done` once: with the bytes, or with the ContractError for
 * a body that is too large or that ends before it is whole.
 */
export function readBody(request: Reading, announced: number, limit: number, done: Done): void {
  if (announced > limit) done(tooLarge())
  else if (hasArrived(request, announced)) {
    // None of a stream's events is needed, which cost far more. Node will say only later that the request is complete.
    request[key] = true
    finish(request.read() ?? Buffer.alloc(0), limit, done)
  } else collect(request, limit, done)
}

/** Mostly so, once its client is authenticated. */
const hasArrived = ({ complete, readableLength }: IncomingMessage, announced: number): boolean =>
  complete || (announced > 0 && readableLength === announced)

function collect(request: IncomingMessage, limit: number, done: Done): void {
  const chunks: Buffer[] = []
  let length = 0
  const settle: Done = (error, bytes) => {
    request.off('data', take).off('end', end).off('error', fail)
    done(error, bytes)
  }
  const take = (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) settle(tooLarge())
    else chunks.push(chunk)
  }
  const end = () => settle(null, Buffer.concat(chunks, length))
  // Nobody gets this answer: the connection is gone.
  const fail = () => settle(new ContractError('malformedRequest', 'the body is not whole'))
  request.on('data', take).on('end', end).on('error', fail)
}

function finish(bytes: Buffer, limit: number, done: Done): void {
  if (bytes.length > limit) done(tooLarge())
  else done(null, bytes)
}

const tooLarge = () => new ContractError('bodyTooLarge', 'the body is too large')
