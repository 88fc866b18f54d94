import type { IncomingMessage } from 'node:http'
import { ContractError } from './errors.ts'
import type { Step } from './request-guards.ts'
import { contentLength } from './request-head.ts'

/** The bodies that an operation accepts. */
type ExpectedBody = {
  mediaTypes: string[]
  isRequired: boolean
  /**
   * Returns whether a Content-Type is accepted; default: a listed media type in any case, with no parameter but
   * charset=utf-8.
   */
  accepts?(given: string | undefined, request: IncomingMessage): boolean
}

/**
 * RFC 9110 sections 5.6.6 and 8.3.1: names in any case, values as tokens or quoted strings, empty parameters allowed.
 */
const mediaType = /^([^\s;]+)(?:(?:[ \t]*;)+[ \t]*charset=(?:utf-8|"utf-8"))?(?:[ \t]*;)*[ \t]*$/i

/**
 * Returns a step that rejects an unlisted Content-Type, or any Content-Encoding, with 415. Fastify would accept such a
 * body without validation, since it has no schema for it.
 */
export const checkMediaType =
  ({ mediaTypes, isRequired, accepts = (given) => isListed(given, mediaTypes) }: ExpectedBody): Step =>
  ({ headers, raw }) => {
    const given = headers['content-type']
    const isAbsent = given === undefined && contentLength(headers) === 0 && headers['transfer-encoding'] === undefined
    if (isAbsent && !isRequired) return undefined
    if (!accepts(given, raw)) {
      const charset = given !== undefined && /;[ \t]*charset=/i.test(given) ? ', with no charset but utf-8' : ''
      const message = `the media type must be ${mediaTypes.join(' or ')}${charset}`
      return new ContractError('unsupportedMediaType', message, { accept: mediaTypes.join(', ') })
    }
    if (headers['content-encoding'] === undefined) return undefined
    const message = 'the body must have no content encoding'
    return new ContractError('unsupportedEncoding', message, { 'accept-encoding': 'identity' })
  }

function isListed(given: string | undefined, mediaTypes: string[]): boolean {
  if (given === undefined) return false
  if (mediaTypes.includes(given)) return true
  const type = mediaType.exec(given)?.[1]?.toLowerCase()
  return type !== undefined && mediaTypes.includes(type)
}

/**
 * Sends 100 Continue to a client that waits for it, unless the announced body is too large (RFC 9110 section 10.1.1).
 */
export const sendContinue: Step = (request, reply) => {
  const { headers, raw } = request
  if (headers.expect === undefined || raw.httpVersion !== '1.1') return undefined
  if (contentLength(headers) <= (request.server.initialConfig.bodyLimit as number)) reply.raw.writeContinue()
  return undefined
}
