import { isUtf8 } from 'node:buffer'
import { type ContentType, parseContentType } from './content-type.ts'

/** The parsed header section of a part of a form (RFC 7578 section 4). */
export type PartHead = {
  name: string
  /** The file name without folders; undefined if the part has none, or if it is `.` or `..`. */
  filename: string | undefined
  /** Undefined if the part has none; the default is text. */
  contentType: ContentType | undefined
}

/** Maximum bytes and lines of a head; browsers send two lines. */
export const maxHeadSize = 4_096
const maxLines = 16

/** A header line: the name has printable characters only (RFC 5322 section 2.2). */
const lineGrammar = /^([!-9;-~]+):[ \t]*([^\r\n]*)$/

/**
 * Matches one parameter (RFC 2183 section 2). Like browsers, it lets a backslash escape quotes and backslashes only.
 */
const parameterGrammar = /[ \t]*;[ \t]*([\w!#$&+.^`|~*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/y

/**
 * Characters that make a displayed or logged file name another one: control characters, line breaks, and controls of the
 * text direction (Unicode TR 36 section 3.6). Other format characters (Cf) are allowed: Persian names and emoji need
 * joiners.
 */
const unsafeCharacters = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/**
 * Parses the head of a part. `text` has one character for each byte, and begins right after the boundary. Returns a
 * message if the head is malformed.
 */
export function readPartHead(text: string): PartHead | string {
  // RFC 2046 section 5.1.1 allows spaces after the boundary; RFC 5322 section 2.2.3 allows folded lines.
  const [padding = '', ...lines] = text.replace(/(.)\r\n(?=[ \t])/g, '$1').split('\r\n')
  if (text.length >= maxHeadSize || lines.length >= maxLines) return 'the headers of a part are too large'
  const headers = lines.map((line) => lineGrammar.exec(line))
  if (padding.trim() !== '' || headers.includes(null)) return 'a part has a malformed header'
  const valuesOf = (name: string) => headers.flatMap((found) => (found?.[1]?.toLowerCase() === name ? [found[2]] : []))
  const [disposition = '', ...more] = valuesOf('content-disposition')
  const [contentType = '', ...others] = valuesOf('content-type')
  const [encoding = '7bit', ...encodings] = valuesOf('content-transfer-encoding')
  if (more.length + others.length + encodings.length > 0) return 'a part repeats a header'
  // Deprecated by RFC 7578 section 4.7.
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding))
    return 'a part has a Content-Transfer-Encoding; send its bytes as they are'
  const parameters = dispositionParameters(disposition)
  const name = parameters?.get('name')
  if (parameters === undefined || name === undefined) return 'a part has no Content-Disposition with a name'
  const parsed = contentType === '' ? undefined : parseContentType(contentType)
  if (contentType !== '' && parsed === undefined) return 'a part has a malformed Content-Type'
  if ([...parameters.values()].some((value) => value.includes('\0'))) return 'a name or filename contains U+0000'
  for (const key of ['filename', 'filename*'])
    if (unsafeCharacters.test(parameters.get(key) ?? '')) return 'a filename contains a control character'
  const filename = (parameters.get('filename*') ?? parameters.get('filename'))?.replace(/^.*[\\/]/s, '')
  const isFolder = filename === '.' || filename === '..'
  return { name, filename: isFolder ? undefined : filename, contentType: parsed }
}

/** Returns the parameters of a `form-data` disposition; undefined if it is malformed or not UTF-8. */
function dispositionParameters(given: string): Map<string, string> | undefined {
  const bytes = Buffer.from(given, 'latin1')
  if (!/^form-data(?![^\s;])/i.test(given) || !isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const parameters = new Map<string, string>()
  let end = 'form-data'.length
  parameterGrammar.lastIndex = end
  for (let found = parameterGrammar.exec(text); found !== null; found = parameterGrammar.exec(text)) {
    const [, name = '', quoted, token = ''] = found
    end = parameterGrammar.lastIndex
    const key = name.toLowerCase()
    const value = key === 'filename*' ? decodeExtended(token) : (quoted?.replace(/\\(["\\])/g, '$1') ?? token)
    if (value === undefined || parameters.has(key)) return undefined
    parameters.set(key, value)
  }
  return text.slice(end).trim() === '' ? parameters : undefined
}

/**
 * Decodes an extended value (RFC 8187 section 3.2). RFC 7578 forbids it, but some clients send it for non-ASCII names.
 */
function decodeExtended(token: string): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(token) ?? []
  try {
    return encoded && decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
