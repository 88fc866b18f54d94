import { serviceHeaders } from '../contract/routes.ts'
import type { HeaderTexts } from '../response/response-headers.ts'

/** A response that is sent as it is: once it is serialized, and again for each retry. */
export class RecordedResponse {
  readonly status: number
  /** The headers, with their names. */
  readonly texts: HeaderTexts
  /** Undefined if the response has no content. Text stays text, since hooks of the application may expect it. */
  readonly body: string | Uint8Array | undefined
  /** Whether this is the response to an earlier request with the key. */
  readonly isReplay: boolean

  constructor(
    { status, texts, body }: Pick<RecordedResponse, 'status' | 'texts' | 'body'>,
    isReplay: RecordedResponse['isReplay'] = false,
  ) {
    this.status = status
    this.texts = texts
    this.body = body
    this.isReplay = isReplay
  }
}

/**
 * The headers that are not kept. A cookie changes the state of one user agent at one time, and the others belong to one
 * message or its connection.
 */
const notKept = new Set<string>(['set-cookie', ...serviceHeaders.filter((name) => name !== 'content-type')])

const lineFeed = 0x0a

/** Serializes a response: a line of JSON with all but the body, and the bytes of the body. */
export function encodeResponse({ status, texts, body }: RecordedResponse): Uint8Array {
  const kept = texts.filter(([name]) => !notKept.has(name.toLowerCase()))
  const kind = body === undefined ? 'none' : typeof body === 'string' ? 'text' : 'bytes'
  const head = Buffer.from(`${JSON.stringify({ status, texts: kept, kind })}\n`)
  return Buffer.concat([head, typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0))])
}

/** Returns the response that `encodeResponse` serialized. Throws an Error for other bytes. */
export function decodeResponse(encoded: Uint8Array): RecordedResponse {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  const end = bytes.indexOf(lineFeed)
  const { status, texts, kind } = JSON.parse(bytes.toString('utf8', 0, end))
  const body = bytes.subarray(end + 1)
  return new RecordedResponse({ status, texts, body: bodyOf(kind, body) }, true)
}

function bodyOf(kind: string, bytes: Buffer): RecordedResponse['body'] {
  if (kind === 'none') return undefined
  return kind === 'text' ? bytes.toString() : bytes
}
