import type { FastifyRequest } from 'fastify'
import { checkTrailerSize } from './header-limit.ts'
import { type BodyMemory, readBody } from './read-body.ts'
import { contentLength } from './request-head.ts'

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
