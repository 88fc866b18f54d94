import { isDeepStrictEqual } from 'node:util'
import type { Case, Line, Tagged } from './driver.ts'
import type { Seen } from './recorder.ts'

export type Verdict = 'right' | 'different' | 'rejected' | 'not sent' | 'missing'

export type Result = {
  verdict: Verdict
  /** The request line, the headers that carry values, and the beginning of the body. */
  wire?: Wire
  /** What the handler received, if that is not what was meant. */
  arrived?: Tagged
  /** What came back, if that is not what was meant. */
  returned?: unknown
  /** The message of the service or of the client. */
  message?: string
}

export type Wire = { target: string; headers: Record<string, string>; body?: string }

/** Compares what was seen of a case with what was meant. */
export function judge(each: Case, line: Line | undefined, seen: Seen | undefined, reason?: string): Result {
  if (line === undefined || line.missing === true)
    return { verdict: 'missing', message: line?.error ?? reason ?? 'the driver printed no line' }
  if (seen === undefined || seen.sent === '') return { verdict: 'not sent', message: line.error ?? 'no error' }
  const wire = wireOf(seen.sent)
  const status = statusOf(seen.returned)
  const expected = expectedOf(each)
  const [received] = seen.received
  if (received === undefined && expected.status !== status)
    return status >= 400 && status < 500
      ? { verdict: 'rejected', wire, message: messageOf(seen.returned) }
      : { verdict: 'different', wire, message: `the service sent ${status}; the client: ${line.error ?? 'no error'}` }
  const result: Result = { verdict: 'right', wire }
  if (received !== undefined && !isSame(received, expected.received)) {
    result.verdict = 'different'
    result.arrived = received
  }
  const returned = returnedOf(line, expected)
  if (expected.headers !== undefined) expected.headers = headerTexts(expected.headers, expected.headers)
  const meant = Object.fromEntries(Object.entries(expected).filter(([name]) => name in returned))
  if (returned.error !== undefined || !isSame(returned, meant)) {
    result.verdict = 'different'
    result.returned = returned
  }
  return result
}

type Expected = { received: Tagged; status: number; response?: Tagged; headers?: Record<string, Tagged> }

/** Returns what a case means, with what its members imply. */
export function expectedOf({ arguments: given, body, reply, expected }: Case): Expected {
  const received = expected?.received ?? {
    ...(given !== undefined && Object.keys(given).length > 0 && { arguments: given }),
    ...(body !== undefined && { body }),
  }
  const response = reply === undefined ? { received } : reply.body
  return {
    received,
    status: reply?.status ?? 200,
    ...(response !== undefined && { response }),
    ...(reply?.headers !== undefined && expected?.response === undefined && { headers: reply.headers }),
    ...expected,
  }
}

/** Returns the members of a line that are compared: an error counts only if no status tells what happened. */
function returnedOf({ status, response, headers, error }: Line, expected: Expected): Record<string, unknown> {
  const isToldByStatus = status !== undefined || response !== undefined
  return {
    ...(status !== undefined && { status }),
    ...(response !== undefined && !isEmpty(response, expected.response) && { response }),
    ...(headers !== undefined && expected.headers !== undefined && { headers: headerTexts(headers, expected.headers) }),
    ...(error !== undefined && !isToldByStatus && { error }),
  }
}

/** Returns whether a client returned nothing, in any of its forms; an empty object is one where nothing is meant. */
const isEmpty = (response: unknown, meant: unknown): boolean =>
  response === null ||
  response === '' ||
  isSame(response, { $bytes: '' }) ||
  (meant === undefined && isSame(response, {}))

/** Returns the texts of those headers that are expected. */
function headerTexts(headers: Record<string, unknown>, expected: object): Record<string, string> {
  const names = Object.keys(expected).map((name) => name.toLowerCase())
  const texts = Object.entries(headers).map(([name, value]) => {
    const untagged = Object.values(Object(value))
    const isTagged = typeof value === 'object' && value !== null && '$int64' in value
    return [name.toLowerCase(), String(isTagged ? untagged[0] : value)] as const
  })
  return Object.fromEntries(texts.filter(([name]) => names.includes(name)))
}

/** Compares two values by what they mean: an int64 is an integer of any form, and a date-time is an instant. */
export const isSame = (found: unknown, meant: unknown): boolean =>
  isDeepStrictEqual(withoutAny(canonical(found), meant), withoutAny(canonical(meant), meant))

/** Returns a value with null for each member for which `$any` is meant. */
function withoutAny(value: unknown, meant: unknown): unknown {
  if (meant === '$any') return null
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const meanings = Object(meant)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutAny(member, meanings[name])]))
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)))
    return `integer ${BigInt(value)}`
  if (typeof value === 'string') return instantOf(value) ?? value
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [[tag, content] = []] = entries
  if (tag === '$int64') return `integer ${BigInt(content)}`
  if (tag === '$date' || tag === '$dateTime' || tag === '$bytes') return instantOf(content) ?? content
  // Names of headers have no case.
  const isNames = entries.some(([name]) => /^x-/i.test(name))
  return Object.fromEntries(
    entries
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [isNames ? name.toLowerCase() : name, canonical(member)]),
  )
}

/** Returns a date-time, or a date that a client read as midnight, in one form; undefined for any other text. */
function instantOf(text: string): string | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00.000Z`
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? new Date(text).toISOString() : undefined
}

/**
 * Returns a text that is the same for results that differ only in the order of members of objects and of parts of forms,
 * which clients in Go and Rust choose anew in each run.
 */
export function textOf(results: Record<string, Result>): string {
  return JSON.stringify(results, (name, value) => {
    if (typeof value === 'bigint') return String(value)
    if (name === 'body' && typeof value === 'string') return [...value].sort().join('')
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}

/**
 * Returns a result without the path of a directory, which a client may send instead of the content of a file. The
 * length of a body that had it is left out, too.
 */
export function withoutPath({ wire, ...result }: Result, directory: string): Result {
  const masked = (text: string) => text.replaceAll(directory, 'DIRECTORY')
  const inValue = (value: unknown): unknown => {
    if (typeof value === 'string') return masked(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(inValue)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name === '$bytes' ? maskedBytes(String(member), masked) : inValue(member),
      ]),
    )
  }
  if (wire === undefined) return inValue(result) as Result
  const headers = wire.body?.includes(directory) ? { ...wire.headers, 'content-length': '…' } : wire.headers
  return inValue({ ...result, wire: { ...wire, headers } }) as Result
}

const maskedBytes = (base64: string, masked: (text: string) => string): string =>
  Buffer.from(masked(Buffer.from(base64, 'base64').toString('latin1')), 'latin1').toString('base64')

/** Headers that carry values of parameters and bodies, or tell how a body is framed. */
const carried = /^(?:x-.*|cookie|content-.*|transfer-encoding|accept|expect)$/

/** Returns the first request of what a client sent, without credentials and without what differs in each run. */
function wireOf(sent: string): Wire {
  const end = sent.indexOf('\r\n\r\n')
  const [line = '', ...fields] = Buffer.from(sent.slice(0, end), 'latin1').toString().split('\r\n')
  const pairs = fields.map(
    (field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()] as const,
  )
  const all = new Map(pairs)
  const boundary = /boundary="?([^";]+)/i.exec(all.get('content-type') ?? '')?.[1]
  // A client in Go may print the address of a value instead of the value.
  const masked = (part: string) =>
    (boundary === undefined ? part : part.replaceAll(boundary, 'BOUNDARY'))
      .replaceAll(/matrix-token-\w+/g, 'TOKEN')
      .replaceAll(/0x[\da-f]{9,}/g, 'ADDRESS')
  const headers = pairs
    .filter(([name]) => carried.test(name))
    .map(([name, value]) => [name, name === 'content-length' && boundary !== undefined ? '…' : masked(value)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const rest = sent.slice(end + 4)
  const isChunked = all.has('transfer-encoding')
  const body = isChunked ? withoutChunks(rest) : rest.slice(0, Number(all.get('content-length') ?? 0))
  const text = masked(Buffer.from(body, 'latin1').toString()).slice(0, 1000)
  const target = masked(line.replace(/ HTTP\/1\.[01]$/, ''))
  return { target, headers: Object.fromEntries(headers), ...(text !== '' && { body: text }) }
}

/** Returns the content of a chunked body, so that results do not depend on the sizes of its chunks. */
function withoutChunks(text: string): string {
  const [, size = '0'] = /^([\da-f]+)[^\r]*\r\n/i.exec(text) ?? []
  const start = text.indexOf('\r\n') + 2
  const length = Number.parseInt(size, 16)
  return length === 0 ? '' : text.slice(start, start + length) + withoutChunks(text.slice(start + length + 2))
}

const statusOf = (returned: string): number => Number(/^HTTP\/1\.1 (?!1)(\d{3})/m.exec(returned)?.[1])

/** Returns the message in the body of an error of the service. */
function messageOf(returned: string): string {
  const status = statusOf(returned)
  const [, body = ''] = Buffer.from(returned, 'latin1').toString().split('\r\n\r\n')
  return `${status}: ${/"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? body}`
}
