import { isUtf8 } from 'node:buffer'
import { JsonError } from './json-error.ts'

/**
 * Returns the text of bytes, which must be UTF-8 (RFC 8259 section 8.1); a byte order mark before it is ignored, as that
 * section allows. Throws a JsonError.
 */
export function decodeJson(bytes: Buffer): string {
  const text = bytes.toString()
  // The replacement character stands for bytes that are not UTF-8, and for itself.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new JsonError('it is not UTF-8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
