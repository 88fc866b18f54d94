import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { isInRange, isRange, kindOf, needsBoundary, rangeOf } from '../contract/media-types.ts'
import type { Content } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import type { Validator } from '../schema/validator.ts'
import type { HeaderTexts } from './response-headers.ts'
import { jsonSender, textSender } from './serialized-body.ts'
import { bytesSender, eventSender, hasOwnBoundary, isStream, lineSender, multipartSender } from './streamed-body.ts'

/** The body that a handler returned, with the texts of the response headers. */
export type ResponseBody = { body: unknown; contentType: string | undefined; headers: HeaderTexts }

/** Sends a body. Throws or rejects, before anything is sent, if the body does not match the document. */
export type SendBody = (reply: FastifyReply, body: ResponseBody) => Promise<void> | undefined

/** How the bodies of a response are sent. */
export type BodySenders = {
  /** Sends bodies for which the handler need not name the media type; undefined if the response has none or several. */
  send: SendBody | undefined
  /** The senders by media type. Undefined if the response has only a range: `send` then checks the media type. */
  senders: Map<string, SendBody> | undefined
}

/**
 * Returns how to send the bodies of one response. `fastifyStatus` is its status as Fastify stores it: in lower case, such
 * as 4xx.
 */
export function bodySenders(fastifyStatus: string, content: Content, validator: Validator): BodySenders {
  const senders = new Map<string, SendBody>()
  for (const [mediaType, { schema }] of Object.entries(content)) {
    senders.set(mediaType, bodySender(fastifyStatus, mediaType, schema, validator))
  }
  const [mediaType, ...more] = senders.keys()
  if (mediaType === undefined || more.length > 0) return { send: undefined, senders }
  return { send: senders.get(mediaType), senders: isRange(mediaType) ? undefined : senders }
}

function bodySender(fastifyStatus: string, mediaType: string, schema: Schema, validator: Validator): SendBody {
  if (isRange(mediaType)) return rangeSender(fastifyStatus, mediaType, validator)
  const kind = kindOf(mediaType)
  if (kind === 'json') return jsonSender(fastifyStatus, mediaType)
  if (kind === 'events') return eventSender(fastifyStatus, mediaType)
  if (kind === 'lines') return lineSender(fastifyStatus, mediaType)
  if (needsBoundary(mediaType)) return multipartSender(mediaType)
  return kind === 'text' ? textSender(mediaType, schema, validator) : bytesSender(mediaType)
}

/** Returns how to send a media type: as itself, with a boundary, or as one of the narrowest range that includes it. */
export const senderOf = (senders: Map<string, SendBody>, contentType: string): SendBody | undefined =>
  senders.get(contentType) ??
  senders.get([...senders.keys()].find((each) => hasOwnBoundary(each, contentType)) as string) ??
  senders.get(rangeOf([...senders.keys()], contentType) as string)

/** Returns a function that sends bodies of a media type range. Only JSON is validated against the schema. */
function rangeSender(fastifyStatus: string, range: string, validator: Validator): SendBody {
  const sendJson = jsonSender(fastifyStatus, range)
  return sendInRange

  function sendInRange(reply: FastifyReply, given: ResponseBody) {
    const { body, contentType = '' } = given
    if (!isInRange(range, contentType)) throw new Error(`contentType must be a media type within ${range}`)
    validateHeaderValue('content-type', contentType)
    if (body instanceof Uint8Array || isStream(body)) return bytesSender(contentType)(reply, given)
    if (kindOf(contentType) === 'json') return sendJson(reply, given)
    return textSender(contentType, true, validator)(reply, given)
  }
}
