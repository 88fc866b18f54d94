import type { FastifyInstance } from 'fastify'
import { bodyTooLarge } from '../http/errors.ts'
import { parseJsonBody } from '../http/json-body.ts'
import { contentLength } from '../http/request-head.ts'
import { formParser, parseText } from '../http/text-body.ts'
import { type BodyReader, type ParseBody, wholeBodyReader } from '../http/whole-body.ts'
import { essenceOf, isRange } from './media-types.ts'
import { type BodyBounds, isBodyReadByHandler } from './request-body.ts'
import { requestKindOf } from './request-media.ts'
import type { Operation } from './routes.ts'

/**
 * Replaces the content type parsers of an app: only the media types of its operations are accepted. A parser reads the
 * body whole, or leaves it unread for the handler. Bodies above the limits get 413.
 */
export function acceptBodies(app: FastifyInstance, operations: Operation[], bounds: BodyBounds): void {
  const { body: limit, headers: headersLimit, memory, uploads } = bounds
  const mediaTypes = operations.flatMap(({ schema }) => Object.keys(schema.body?.content ?? {}))
  const hasRange = mediaTypes.some(isRange)
  const leaveUnread: BodyReader = ({ headers }, _payload, done) =>
    done(contentLength(headers) > uploads.bytes ? bodyTooLarge(uploads.bytes) : null)
  const whole = (parse: ParseBody): BodyReader => {
    const read = wholeBodyReader(parse, { limit, headersLimit, memory })
    // With a media type range, one operation can stream a media type that another operation parses.
    return hasRange
      ? (request, payload, done) => (isBodyReadByHandler(request.raw) ? leaveUnread : read)(request, payload, done)
      : read
  }
  const readers = {
    json: whole(parseJsonBody),
    text: whole(parseText),
    form: whole(formParser(uploads.fields)),
    multipart: leaveUnread,
    bytes: leaveUnread,
  }
  app.removeAllContentTypeParsers()
  for (const essence of new Set(mediaTypes.filter((each) => !isRange(each)).map(essenceOf))) {
    app.addContentTypeParser(essence, readers[requestKindOf(essence)])
  }
  if (hasRange) app.addContentTypeParser('*', leaveUnread)
}
