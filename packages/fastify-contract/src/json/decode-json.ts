import { isUtf8 } from 'node:buffer'
import { JsonError } from './parse-json.ts'

/**
 * Decodes JSON text, which must be UTF-8; a leading byte order mark is ignored (RFC 8259 section 8.1). Throws a
 * JsonError for other bytes.
 */
export function decodeJson(bytes: Buffer): string {
  const text = bytes.toString()
  // The decoder replaces invalid bytes with U+FFFD, which may also occur in valid text.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new JsonError('it is not UTF-8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
