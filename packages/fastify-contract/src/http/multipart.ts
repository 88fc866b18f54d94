import { Dicer } from '@fastify/busboy'
import { ContractError } from './errors.ts'
import { maxHeadSize, type PartHead, readPartHead } from './part-headers.ts'
import { type ByteSource, tapStream } from './tapped-stream.ts'
import { tooManyFields } from './text-body.ts'

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
  // An exception leaves the write to the parser, which would otherwise build the thousands of parts that the rest of a
  // chunk may have.
  parser.on('part', (part) => {
    part.on('error', ignore)
    if (isHeadOpen) throw incomplete()
    isHeadOpen = true
    if (++count > limit) throw tooManyFields(limit)
    part.on('header', () => {
      isHeadOpen = false
      const head = readPartHead(headOf())
      if (typeof head === 'string') throw notMultipart(head)
      add({ ...head, bytes: tapStream(part, { leave: () => part.resume() }) })
    })
  })
  parser.on('error', () => fail(notMultipart('its last boundary is missing')))
  parser.on('finish', () => {
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
  return () => {
    const text = latest
    latest = ''
    return text
  }
}

const ignore = () => {}
