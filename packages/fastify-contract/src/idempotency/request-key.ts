import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import { parseContentType } from '../contract/media-types.ts'
import { contextOf } from '../http/request-context.ts'
import { contentLength } from '../http/request-head.ts'
import type { KeyedRequest } from './key-store.ts'
import { keyedState } from './keyed-request.ts'

/** The request header, in lower case. */
export const keyHeader = 'idempotency-key'

/** A string of RFC 9651 section 3.3.3, as the draft has it, without parameters. */
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * Returns the key of a request; undefined if it has none. A quoted key is the same as one without quotes. The schema of
 * the document says which other keys are valid. Throws a ContractError with status 400 for an empty key.
 */
export function requestKey({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const text = headers[keyHeader]
  if (text === undefined) return undefined
  const key = quotedKey.exec(String(text))?.[1]?.replace(/\\(.)/g, '$1') ?? String(text)
  // An empty key would be that of all clients with the same mistake.
  if (key === '') throw new ContractError('invalid', 'the header Idempotency-Key must not be empty')
  return key
}

/**
 * Returns what identifies a request with a key. The id covers the security scheme, the client and its subject, since
 * others may choose the same key. It also covers the prefix of the API, since another one may have the same operation.
 * A handler that reads the body itself reads it later than the key is claimed, so of such a body only the length counts.
 */
export function identify(
  request: FastifyRequest,
  { prefix, operationId }: { prefix: string; operationId: string },
  key: string,
): KeyedRequest {
  const { client, scheme } = contextOf(request.raw)
  // Clients of two schemes may have one name, and all users of one front end may be one client.
  const scope = client === undefined ? null : [scheme, client.name, client.subject]
  const parts = prefix === '' ? [scope, operationId, key] : [scope, operationId, key, prefix]
  return { id: digest(JSON.stringify(parts)), fingerprint: fingerprintOf(request) }
}

function fingerprintOf({ raw, method, headers }: FastifyRequest): string {
  const { bodyDigest } = keyedState(raw)
  const mediaType = mediaTypeOf(headers['content-type'])
  // Each attempt to send a multipart body may have another boundary.
  const hasLength = bodyDigest === undefined && !mediaType.startsWith('multipart/')
  const length = hasLength ? contentLength(headers) : 0
  return digest(JSON.stringify([method, raw.url, mediaType, length]), bodyDigest)
}

const digest = (text: string, bytes: Uint8Array = Buffer.alloc(0)): string =>
  createHash('sha256').update(text).update(bytes).digest('base64url')

/** Returns a media type in one spelling, without the boundary between the parts of its body. */
function mediaTypeOf(given = ''): string {
  const parsed = parseContentType(given)
  if (parsed === undefined) return given
  const parameters = [...parsed.parameters].filter(([name]) => name !== 'boundary')
  return [parsed.essence.toLowerCase(), ...parameters.map((pair) => pair.join('=')).sort()].join(';')
}
