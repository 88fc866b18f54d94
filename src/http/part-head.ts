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

/** The lines of a head by their names in lower case, each byte a character. */
export type PartLines = Record<string, string[] | undefined>

/** One parameter at a time: RFC 2183 section 2, with the backslash as browsers send it, before quotes and itself only. */
const parameterGrammar = /[ \t]*;[ \t]*([\w!#$&+.^`|~*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/y

/** Returns the head of a part, or in words what is wrong with it. */
export function readPartHead(lines: PartLines): PartHead | string {
  const [disposition = '', ...more] = lines['content-disposition'] ?? []
  const [contentType = '', ...others] = lines['content-type'] ?? []
  const [encoding = '7bit'] = lines['content-transfer-encoding'] ?? []
  if (more.length + others.length > 0) return 'a part has a header twice'
  // RFC 7578 section 4.7.
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) return 'a part has a transfer encoding; send its bytes as they are'
  const parameters = dispositionParameters(disposition)
  const name = parameters?.get('name')
  if (parameters === undefined || name === undefined) return 'a part has no Content-Disposition with a name'
  const parsed = contentType === '' ? undefined : parseContentType(contentType)
  if (contentType !== '' && parsed === undefined) return 'a part has a malformed Content-Type'
  const filename = parameters.get('filename*') ?? parameters.get('filename')
  return { name, filename: filename?.replace(/^.*[\\/]/s, ''), contentType: parsed }
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
