import { isUtf8 } from 'node:buffer'
import { type ContentType, parseContentType } from './content-type.ts'

/** What the head of a part of a form says (RFC 7578 section 4). */
export type PartHead = {
  name: string
  /** Without the folders before it, undefined where the part has none. */
  filename: string | undefined
  /** Undefined where the part names none, which then is text. */
  contentType: ContentType | undefined
}

/** Bytes and lines of a head; browsers send two lines. */
export const maxHeadSize = 4_096
const maxLines = 16

/** RFC 5322 section 2.2: a name of printable characters. */
const lineGrammar = /^([!-9;-~]+):[ \t]*([^\r\n]*)$/

/** One parameter at a time: RFC 2183 section 2, with the backslash as browsers send it, before quotes and itself only. */
const parameterGrammar = /[ \t]*;[ \t]*([\w!#$&+.^`|~*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/y

/** Returns the head of a part, each byte a character, from behind the boundary; or in words what is wrong with it. */
export function readPartHead(text: string): PartHead | string {
  // RFC 2046 section 5.1.1 lets spaces follow the boundary; RFC 5322 section 2.2.3 lets a line go on in the next one.
  const [padding = '', ...lines] = text.replace(/(.)\r\n(?=[ \t])/g, '$1').split('\r\n')
  if (text.length >= maxHeadSize || lines.length >= maxLines) return 'the headers of a part are too large'
  const headers = lines.map((line) => lineGrammar.exec(line))
  if (padding.trim() !== '' || headers.includes(null)) return 'a part has a malformed header'
  const valuesOf = (name: string) => headers.flatMap((found) => (found?.[1]?.toLowerCase() === name ? [found[2]] : []))
  const [disposition = '', ...more] = valuesOf('content-disposition')
  const [contentType = '', ...others] = valuesOf('content-type')
  const [encoding = '7bit', ...encodings] = valuesOf('content-transfer-encoding')
  if (more.length + others.length + encodings.length > 0) return 'a part has a header twice'
  // RFC 7578 section 4.7.
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) return 'a part has a transfer encoding; send its bytes as they are'
  const parameters = dispositionParameters(disposition)
  const name = parameters?.get('name')
  if (parameters === undefined || name === undefined) return 'a part has no Content-Disposition with a name'
  const parsed = contentType === '' ? undefined : parseContentType(contentType)
  if (contentType !== '' && parsed === undefined) return 'a part has a malformed Content-Type'
  if ([...parameters.values()].some((value) => value.includes('\0'))) return 'a name or filename holds U+0000'
  const filename = (parameters.get('filename*') ?? parameters.get('filename'))?.replace(/^.*[\\/]/s, '')
  const isFolder = filename === '.' || filename === '..'
  return { name, filename: isFolder ? undefined : filename, contentType: parsed }
}

/** Returns the parameters of `form-data`, undefined for what is not well-formed or not UTF-8. */
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
    const value = key === 'filename*' ? extended(token) : (quoted?.replace(/\\(["\\])/g, '$1') ?? token)
    if (value === undefined || parameters.has(key)) return undefined
    parameters.set(key, value)
  }
  return text.slice(end).trim() === '' ? parameters : undefined
}

/** RFC 8187 section 3.2: RFC 7578 forbids it, and some clients send it for names that are not ASCII. */
function extended(token: string): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(token) ?? []
  try {
    return encoded && decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
