import type { IncomingMessage } from 'node:http'
import { ContractError } from './errors.ts'

type Done = (error: ContractError | null, bytes?: Buffer) => void

/**
 * Reads the body of a request, of at most `limit` bytes. Calls `done` once: with the bytes, or with the ContractError for
 * a body that is too large or that ends before it is whole.
 */
export function readBody(request: IncomingMessage, announced: number, limit: number, done: Done): void {
  if (announced > limit) done(tooLarge())
  // One that became whole while its client was authenticated needs none of a stream's events, which cost far more.
  else if (request.complete) finish(request.read() ?? Buffer.alloc(0), limit, done)
  else collect(request, limit, done)
}

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
