import type { FastifyRequest } from 'fastify'
import { checkTrailerSize } from './header-limit.ts'
import { type BodyMemory, readBody } from './read-body.ts'
import { contentLength } from './request-head.ts'

type Done = (error: Error | null, body?: unknown) => void

/** Calls `done` once: with what the bytes of a body say, or with the error that refuses them. */
export type ParseBody = (bytes: Buffer, done: Done) => void

/** A parser of Fastify's for a content type. */
export type BodyReader = (request: FastifyRequest, payload: unknown, done: Done) => void

/** Bytes of a body and of its trailers, and the memory that bodies share. */
export type WholeLimits = { limit: number; headersLimit: number; memory: BodyMemory }

/**
 * Returns what reads a body whole: 413 for one that is too large, 503 for one that there is no room for, and what `parse`
 * refuses. The body of the request is then what `parse` gives.
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
