import type { HandlerResponse } from 'fastify-contract/contract'

/**
 * Returns an example body of parts as a handler returns it, with the boundary that the first line of the example has.
 * Without an example, the body has no parts.
 */
export function multipartBody(mediaType: string, value: unknown): Pick<HandlerResponse, 'contentType' | 'body'> {
  const text = String(value)
  const [, boundary] = /^--([\w'()+,./:=?-]{1,70})\r?\n/.exec(text) ?? []
  return boundary === undefined
    ? { contentType: `${mediaType}; boundary=example`, body: Buffer.from('--example--\r\n') }
    : { contentType: `${mediaType}; boundary="${boundary}"`, body: Buffer.from(text) }
}
