/*
 * Reads the parts of multipart/form-data. It replaces a private method of Dicer, `_hparser._parseHeader`, because Dicer
 * drops malformed header lines and offers no other way to the text of a part's head. If a release of @fastify/busboy
 * renames it, every part lacks its head and gets 400, as test/http/multipart.test.ts shows.
 */

import { isUtf8 } from 'node:buffer'
import { Dicer } from '@fastify/busboy'
import { ContractError, tooManyFields } from '../contract/errors.ts'
import { type ContentType, parseContentType } from '../contract/media-types.ts'
import { type ByteSource, boundedStream } from './upload.ts'

/** A part of a form. Its byte stream ends when the next part is requested. */
export type Part = PartHead & { bytes: ByteSource }

/** Returns the error for a malformed multipart/form-data body. */
const notMultipart = (problem: string): ContractError =>
  new ContractError('invalid', `body is not multipart/form-data: ${problem}`)

/** Returns the boundary between parts (RFC 2046 section 5.1.1). Throws a ContractError if it is missing or invalid. */
export function boundaryOf(parameters: Map<string, string>): string {
  const boundary = parameters.get('boundary') ?? ''
  if (/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) return boundary
  throw notMultipart('the Content-Type has no boundary of 1 to 70 characters')
}

/**
 * Yields the parts of a form as its bytes arrive, and reads at most one chunk ahead of the reader. Throws a
 * ContractError for a malformed form and for one with more than `limit` parts; errors of the source are passed on.
 */
export async function* readParts(source: ByteSource, boundary: string, limit: number): AsyncGenerator<Part> {
  const found: Part[] = []
  let latest: Part | undefined
  let isParsed = false
  let isFed = false
  let failure: Error | undefined
  let wake = ignore
  const fail = (error: Error) => {
    failure ??= error
    for (const { bytes } of latest === undefined ? found : [latest, ...found]) bytes.destroy(failure)
    wake()
  }
  const add = (part: Part) => {
    found.push(part)
    wake()
  }
  const end = () => {
    isParsed = true
    wake()
  }
  const endFeed = () => {
    isFed = true
    wake()
  }
  source.once('error', fail)
  feed(source, parserOf(boundary, limit, { add, fail, end }), () => failure !== undefined).then(endFeed, fail)
  try {
    for (;;) {
      while (found.length === 0 && failure === undefined && !(isParsed && isFed)) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (failure !== undefined) throw failure
      latest = found.shift()
      if (latest === undefined) return
      yield latest
      latest.bytes.destroy()
    }
  } finally {
    // The reader has stopped, so the remaining bytes are not parsed.
    failure ??= new Error('the handler stopped reading the parts')
    source.off('error', fail)
    latest?.bytes.destroy()
  }
}

/** Writes a source to a parser. It reads the next chunk once the parser has consumed the previous one. */
async function feed(source: ByteSource, parser: Dicer, hasFailed: () => boolean): Promise<void> {
  let isFinished = false
  let resume = ignore
  parser.on('finish', () => {
    isFinished = true
    // The parser may never call back for the chunk that holds the last boundary.
    resume()
  })
  for await (const chunk of source) {
    if (hasFailed()) return
    // Bytes after the last boundary are ignored (RFC 2046 section 5.1.1), but read so that the connection can be
    // reused.
    if (isFinished) continue
    await new Promise<void>((resolve) => {
      resume = resolve
      parser.write(chunk, () => resolve())
    })
  }
  parser.end()
}

type ParserEvents = { add(part: Part): void; fail(error: Error): void; end(): void }

/** Returns a parser of a form. It checks heads itself: Dicer silently drops a malformed header line and the rest. */
function parserOf(boundary: string, limit: number, { add, fail, end }: ParserEvents): Dicer {
  const parser = new Dicer({ boundary, maxHeaderSize: maxHeadSize } as ConstructorParameters<typeof Dicer>[0])
  const headOf = keepHead(parser)
  let count = 0
  let isHeadOpen = false
  const incomplete = () => notMultipart('the headers of a part are incomplete')
  // Thrown, not passed to `fail`: the exception breaks out of `parser.write`, which would otherwise build the thousands
  // of parts that the rest of a chunk may have.
  parser.on('part', function readPart(part) {
    part.on('error', ignore)
    if (isHeadOpen) throw incomplete()
    isHeadOpen = true
    if (++count > limit) throw tooManyFields(limit)
    part.on('header', function addPart() {
      isHeadOpen = false
      const head = readPartHead(headOf())
      if (typeof head === 'string') throw notMultipart(head)
      add({ ...head, bytes: boundedStream(part, { onDestroy: () => part.resume() }) })
    })
  })
  parser.on('error', () => fail(notMultipart('its last boundary is missing')))
  parser.on('finish', function finish() {
    if (isHeadOpen) fail(incomplete())
    end()
  })
  return parser
}

/** The private header parser of a Dicer. It collects the text of a head in `buffer` and then parses it. */
type HeadParser = { buffer: string; _parseHeader(): void }

/**
 * Replaces the header parser of a Dicer. Returns a function that returns the text of the latest head, up to the maximum
 * size, and forgets it.
 */
function keepHead(parser: Dicer): () => string {
  const heads = (parser as unknown as { _hparser: HeadParser })._hparser
  let latest = ''
  // Dicer does not call _parseHeader for an empty head.
  heads._parseHeader = () => {
    latest = heads.buffer
  }
  return function takeHead() {
    const text = latest
    latest = ''
    return text
  }
}

const ignore = () => {}

/** The parsed header section of a part of a form (RFC 7578 section 4). */
export type PartHead = {
  name: string
  /** The file name without directories; undefined if the part has none, or if it is `.` or `..`. */
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
 * Match one parameter (RFC 2183 section 2). In the first notation, a backslash escapes quotes and backslashes, as the clients
 * of Go, httpx and aiohttp send them. In the second one, that of browsers, curl and fetch, a backslash is a character like
 * any other, and a quote is `%22` (WHATWG HTML section 4.10.22.8).
 */
const escapedParameter = /[ \t]*;[ \t]*([\w!#$&+.^`|~*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/y
const literalParameter = /[ \t]*;[ \t]*([\w!#$&+.^`|~*-]+)=(?:"([^"]*)"|([^\s;"]+))/y

/** A percent-encoded byte other than those of the second notation, which are a quote and the line breaks. */
const otherEscape = /%(?!22|0D|0A)[\da-f]{2}/i

/**
 * Characters that make a displayed or logged file name another one: control characters, line breaks, and controls of
 * the text direction (Unicode TR 36 section 3.6). Other format characters (Cf) are allowed: Persian names and emoji
 * need joiners.
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
  // Browsers, fetch and curl write a quote as %22 (WHATWG HTML section 4.10.22.8; RFC 7578 section 4.2).
  // A name with other encoded bytes is not of their notation.
  const given = parameters.get('filename')
  const plain = given !== undefined && otherEscape.test(given) ? given : given?.replaceAll('%22', '"')
  const filename = (parameters.get('filename*') ?? plain)?.replace(/^.*[\\/]/s, '')
  const isDirectory = filename === '.' || filename === '..'
  return { name, filename: isDirectory ? undefined : filename, contentType: parsed }
}

/** Returns the parameters of a `form-data` disposition; undefined if it is malformed or not UTF-8. */
function dispositionParameters(given: string): Map<string, string> | undefined {
  const bytes = Buffer.from(given, 'latin1')
  if (!/^form-data(?![^\s;])/i.test(given) || !isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const unescaped = (quoted: string) => quoted.replace(/\\(["\\])/g, '$1')
  // A name that ends with a backslash is malformed if the backslash is an escape: name="a\"
  return parametersIn(text, escapedParameter, unescaped) ?? parametersIn(text, literalParameter, (quoted) => quoted)
}

/** Returns the parameters of a disposition by one notation; undefined if it does not fit. */
function parametersIn(
  text: string,
  grammar: RegExp,
  unquoted: (quoted: string) => string,
): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  let end = 'form-data'.length
  grammar.lastIndex = end
  for (let found = grammar.exec(text); found !== null; found = grammar.exec(text)) {
    const [, name = '', quoted, token = ''] = found
    end = grammar.lastIndex
    const key = name.toLowerCase()
    const value = key === 'filename*' ? decodeExtended(token) : quoted === undefined ? token : unquoted(quoted)
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
