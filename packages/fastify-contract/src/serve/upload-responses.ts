import type { FastifyReply } from 'fastify'
import { closeUnread, uploadFailure } from '../http/upload.ts'
import { mayReadBody } from './request-media.ts'
import type { RouteSchema } from './routes.ts'
import type { Outcome } from './send-response.ts'

/** Sends the response for the outcome of a handler, or for an error. */
export type SendOutcome = (reply: FastifyReply, error: unknown, outcome?: Outcome) => void

/**
 * Wraps the sender of an operation whose handler may read the body. If the upload failed, the response reports that
 * failure instead of the error that the handler threw.
 */
export function afterUpload(schema: RouteSchema, send: SendOutcome): SendOutcome {
  if (!mayReadBody(schema)) return send
  return (reply, error, outcome) => {
    const { raw } = reply.request
    closeUnread(raw, reply.raw)
    send(reply, outcome === undefined ? (uploadFailure(raw) ?? error) : error, outcome)
  }
}
