import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ContractError } from './errors.ts'
import { parseJson } from './json.ts'

/**
 * Makes strict JSON the only body that the app reads. A handler's body is a JsonDocument, validated in place.
 * A body is UTF-8 (RFC 8259 section 8.1); a byte order mark before it is ignored, as that section allows.
 */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    try {
      if (!isUtf8(bytes)) throw new ContractError('notJson', 'body is not JSON: it is not UTF-8')
      const text = bytes.toString('utf8')
      done(null, parseJson(text.startsWith('\ufeff') ? text.slice(1) : text))
    } catch (error) {
      done(error as ContractError)
    }
  })
}

/** RFC 9110 sections 5.6.6 and 8.3.1: names in any case, a value as a token or a quoted string, empty parameters. */
const mediaType = /^([^\s;]+)(?:(?:[ \t]*;)+[ \t]*charset=(?:utf-8|"utf-8"))?(?:[ \t]*;)*[ \t]*$/i

/** Sends 100 Continue to a client that waits for it (RFC 9110 section 10.1.1), unless its body would be refused. */
export function inviteBody({ headers, raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (headers.expect === undefined || raw.httpVersion !== '1.1') return
  if (Number(headers['content-length'] ?? 0) <= (routeOptions.bodyLimit as number)) reply.raw.writeContinue()
}

/**
 * Takes a request and the media types of its operation's body; gives what is wrong with its Content-Type or
 * Content-Encoding, before the body is read. Fastify would let a body through unvalidated that it has no schema for.
 */
export function unsupportedBody({ headers }: FastifyRequest, accepted: string[], required: boolean) {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const given = headers['content-type']
  if (given === undefined && !hasBody && !required) return undefined
  const type = mediaType.exec(given ?? '')?.[1]?.toLowerCase()
  if (type === undefined || !accepted.includes(type)) {
    const message = `the media type must be ${accepted.join(' or ')}, with no charset but utf-8`
    return new ContractError('unsupportedMediaType', message, { accept: accepted.join(', ') })
  }
  if (headers['content-encoding'] !== undefined) {
    const message = 'the body must have no content encoding'
    return new ContractError('unsupportedEncoding', message, { 'accept-encoding': 'identity' })
  }
  return undefined
}
