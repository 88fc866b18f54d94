import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type JsonDocument, parseJson } from '../json/parse-json.ts'
import type { RequestBody } from '../openapi/document.ts'
import { ContractError } from './errors.ts'
import { readBody } from './read-body.ts'
import { contentLength } from './request-head.ts'

/** JSON by its own name or by the suffix of another (RFC 6839 section 3.1). */
export const isJson = (mediaType: string): boolean => /^application\/(?:[\w.-]+\+)?json$/.test(mediaType)

/**
 * Makes strict JSON, under these media types, the only body that the app reads. A handler's body is a JsonDocument,
 * validated in place. A body is UTF-8 (RFC 8259 section 8.1); a byte order mark before it is ignored, as that section allows.
 */
export function acceptJson(app: FastifyInstance, mediaTypes: string[]): void {
  const limit = app.initialConfig.bodyLimit as number
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(mediaTypes, ({ headers, raw }, _payload, done) => {
    readBody(raw, contentLength(headers), limit, (error, bytes) => {
      if (bytes === undefined) done(error)
      else parse(bytes, done)
    })
  })
}

function parse(bytes: Buffer, done: (error: Error | null, document?: JsonDocument) => void): void {
  let document: JsonDocument
  try {
    document = parseJson(decode(bytes))
  } catch (error) {
    done(error as ContractError)
    return
  }
  // What comes of it is not for this place to catch.
  done(null, document)
}

function decode(bytes: Buffer): string {
  const text = bytes.toString()
  // What stands for bytes that are not UTF-8 may also stand for itself.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new ContractError('notJson', 'body is not JSON: it is not UTF-8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** RFC 9110 sections 5.6.6 and 8.3.1: names in any case, a value as a token or a quoted string, empty parameters. */
const mediaType = /^([^\s;]+)(?:(?:[ \t]*;)+[ \t]*charset=(?:utf-8|"utf-8"))?(?:[ \t]*;)*[ \t]*$/i

/**
 * Judges what is announced of a body before it is read, then asks for it. Gives the ContractError for a Content-Type
 * that the operation does not list, or a Content-Encoding: Fastify would let a body through unvalidated that it has no
 * schema for. A client that waits for 100 Continue (RFC 9110 section 10.1.1) gets it unless its body is too large.
 */
export function expectBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { content, required }: RequestBody,
): ContractError | undefined {
  const { headers, raw } = request
  const length = contentLength(headers)
  const given = headers['content-type']
  if (given === undefined && !required && length === 0 && headers['transfer-encoding'] === undefined) return undefined
  if (!isListed(given, content)) {
    const accepted = Object.keys(content)
    const message = `the media type must be ${accepted.join(' or ')}, with no charset but utf-8`
    return new ContractError('unsupportedMediaType', message, { accept: accepted.join(', ') })
  }
  if (headers['content-encoding'] !== undefined) {
    const message = 'the body must have no content encoding'
    return new ContractError('unsupportedEncoding', message, { 'accept-encoding': 'identity' })
  }
  const waits = headers.expect !== undefined && raw.httpVersion === '1.1'
  if (waits && length <= (request.routeOptions.bodyLimit as number)) reply.raw.writeContinue()
  return undefined
}

function isListed(given: string | undefined, content: RequestBody['content']): boolean {
  if (given === undefined) return false
  if (Object.hasOwn(content, given)) return true
  const type = mediaType.exec(given)?.[1]?.toLowerCase()
  return type !== undefined && Object.hasOwn(content, type)
}
