import { expandPath, type ParameterPair, pairText, parameterPairs } from 'fastify-contract/client'
import type { RequestValues, Source, TestRequest, Violation } from '../exchange.ts'
import type { OperationParts, ParameterPart } from './operation-parts.ts'
import { addPrecondition } from './own-precondition.ts'
import { bodyBytes } from './write-body.ts'

/** The maximum lengths of a request target and of a header in characters: Node.js takes heads of 16 KiB. */
const maxTarget = 6_000
const maxHeader = 3_000
/** The maximum length of a body in bytes. The default limit of the service is 256 KiB, that of Express 100 KiB. */
export const maxBody = 90_000

/** A part of a request that differs from what its values say. */
export type Change = {
  /** The bytes of the body instead of those of its value. */
  body?: Uint8Array | undefined
  /** Headers, by name in lowercase. */
  headers?: Record<string, string>
}

/**
 * Writes a request from the values of its parts. Returns undefined if a value cannot be sent in its part, such as an
 * empty one in a path, and for a request that is too long.
 */
export function writeRequest(
  parts: OperationParts,
  values: RequestValues,
  source: Source,
  { violation, change = {} }: { violation?: Violation; change?: Change } = {},
): TestRequest | undefined {
  const { operation, base } = parts
  const pairs = pairsOf(parts.parameters, values.parameters)
  if (pairs === undefined) return undefined
  const path = expandPath(operation.path, pairs.path)
  if (/\{[^}]*\}/.test(path) || hasDots(path) || parts.isOfOther(path)) return undefined
  const query = pairs.query.map(pairText).join('&')
  const target = base + path + (query === '' ? '' : `?${query}`)
  const headers: Record<string, string> = {}
  for (const [name, value] of pairs.header) headers[name.toLowerCase()] = value
  if (pairs.cookie.length > 0) headers.cookie = pairs.cookie.map(pairText).join('; ')
  const written = writtenBody(parts, values)
  if (written === undefined) return undefined
  if (written.mediaType !== undefined) headers['content-type'] = written.mediaType
  if (parts.needsTag) addPrecondition(headers, source, violation)
  Object.assign(headers, change.headers)
  const body = 'body' in change ? change.body : written.body
  const isLong = target.length > maxTarget || (body?.length ?? 0) > maxBody
  if (isLong || !Object.values(headers).every(isHeader)) return undefined
  return { operation, method: operation.method, target, headers, body, source, violation, values }
}

type Pairs = Record<'path' | 'query' | 'header' | 'cookie', ParameterPair[]>

/** Returns the pairs of name and value by location; undefined if one cannot be sent or another parameter has its name. */
function pairsOf(parameters: ParameterPart[], values: RequestValues['parameters']): Pairs | undefined {
  const pairs: Pairs = { path: [], query: [], header: [], cookie: [] }
  const owners = new Map<string, string>()
  for (const part of parameters) {
    const value = values.get(part.key)
    if (value === undefined) continue
    const written = parameterText(part, value)
    if (written === undefined) return undefined
    for (const pair of written) {
      const key = `${part.in} ${pair[0]}`
      if ((owners.get(key) ?? part.key) !== part.key) return undefined
      owners.set(key, part.key)
      pairs[part.in].push(pair)
    }
  }
  return pairs
}

/** Returns the pairs of name and text of a parameter; undefined if its style cannot represent the value. */
export function parameterText(
  { in: location, name, style }: ParameterPart,
  value: unknown,
): ParameterPair[] | undefined {
  let isRejected = false
  const pairs = parameterPairs({ ...style, in: location, name }, value, () => {
    isRejected = true
  })
  if (isRejected || pairs.some(([key]) => !key.isWellFormed())) return undefined
  if (location === 'path' && (pairs.length === 0 || pairs.some(([, text]) => text === ''))) return undefined
  return pairs
}

/** Returns whether a path has a segment that clients resolve (RFC 3986 section 5.2.4), also percent-encoded. */
const hasDots = (path: string): boolean => /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)

/** Returns whether a header can have a value: other characters are not portable (RFC 9110 section 5.5). */
const isHeader = (value: string): boolean => value.length <= maxHeader && isHeaderText(value)

export const isHeaderText = (text: string): boolean => /^[!-~](?:[ -~]*[!-~])?$/.test(text)

type Written = { mediaType?: string; body: Uint8Array | undefined }

function writtenBody({ bodies }: OperationParts, { body }: RequestValues): Written | undefined {
  if (body === undefined) return { body: undefined }
  const part = bodies.find(({ mediaType }) => mediaType === body.mediaType)
  return part && bodyBytes(part, body.value)
}
