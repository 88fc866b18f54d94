import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { TestResponse } from '../exchange.ts'
import { cutOff, tooLarge } from './target-error.ts'

/** Returns the headers of a response as texts; only `set-cookie` is a list, as node:http reads them. */
export function responseHeaders(given: IncomingHttpHeaders | OutgoingHttpHeaders): TestResponse['headers'] {
  const headers: TestResponse['headers'] = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const texts = [value].flat().map(String)
    headers[name] = name === 'set-cookie' ? texts : texts.join(', ')
  }
  return headers
}

/**
 * Reads the body of a response, and calls `finish` with it. Calls `fail` instead, at least once, if the body has more
 * than `limit` bytes, or the stream is closed before its end.
 */
export function readBody(
  body: Readable,
  limit: number,
  fail: (error: Error) => void,
  finish: (bytes: Uint8Array) => void,
): void {
  const chunks: Uint8Array[] = []
  let length = 0
  body
    .on('data', function addChunk(chunk: Uint8Array) {
      length += chunk.length
      if (length > limit) fail(tooLarge(limit))
      else chunks.push(chunk)
    })
    .on('error', (error) => fail(cutOff(error)))
    .on('close', () => fail(cutOff()))
    .on('end', () => finish(Buffer.concat(chunks)))
}
