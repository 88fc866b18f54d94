import { isAscii } from 'node:buffer'
import { ContractError } from '../contract/errors.ts'
import { type ContentType, requestKindOf } from '../contract/media-types.ts'
import { decodeUtf8 } from '../http/decode-utf8.ts'
import { isUtf8Name } from './content-type.ts'

/*
 * The text of the parts of a multipart form. A part may name its charset (RFC 7578 section 5.1.2); Apache HttpClient in Java
 * names ISO-8859-1 by default.
 */

const charsetOf = (contentType: ContentType | undefined): string =>
  contentType?.parameters.get('charset')?.toLowerCase() ?? 'utf-8'

/** Returns whether the text of a part is in a charset that `decodePart` reads. JSON has no charset but UTF-8 and its subset. */
export function isReadableText(contentType: ContentType | undefined): boolean {
  const charset = charsetOf(contentType)
  if (isUtf8Name(charset) || charset === 'us-ascii') return true
  return charset === 'iso-8859-1' && requestKindOf((contentType as ContentType).essence) !== 'json'
}

/**
 * Decodes the text of a part. Throws a ContractError for bytes that are no text in its charset. In ISO-8859-1, these are also
 * 0x80 to 0x9F: control characters for IANA, letters and quotes for the Encoding Standard, which reads windows-1252.
 */
export function decodePart(bytes: Buffer, contentType: ContentType | undefined, part: string): string {
  const charset = charsetOf(contentType)
  if (isUtf8Name(charset) || isAscii(bytes)) return decodeUtf8(bytes, part)
  const text = bytes.toString('latin1')
  if (charset === 'us-ascii' || /[\x80-\x9F]/.test(text))
    throw new ContractError('invalid', `${part} is not ${charset}`)
  return decodeUtf8(Buffer.from(text), part)
}
