import { ContractError } from '../contract/errors.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { readLines } from './read-lines.ts'
import type { ServerSentEvent } from './streams.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Yields the chunks with each CR and CR LF replaced by LF, also across chunk boundaries. */
async function* withLineFeeds(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isSplit = false
  for await (const chunk of chunks) {
    const rest = isSplit && chunk[0] === lineFeed ? chunk.subarray(1) : chunk
    isSplit = chunk.at(-1) === carriageReturn
    yield rest.includes(carriageReturn) ? Buffer.from(rest.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1') : rest
  }
}

/**
 * Yields the server-sent events of a stream as WHATWG HTML section 9.2.6 interprets them: comments, unknown fields and
 * invalid values are ignored, and so are events without data and an event that no empty line ends. `event`, `id` and
 * `retry` are those of the event itself. Throws a ContractError for an event with more than `limit` bytes, and for text
 * that is not UTF-8 or contains U+0000.
 */
export async function* readEvents(
  chunks: AsyncIterable<Buffer>,
  limit: number,
): AsyncGenerator<ServerSentEvent<string>> {
  let number = 1
  let size = 0
  let data: string[] = []
  let others: Partial<ServerSentEvent> = {}
  for await (const lines of readLines(withLineFeeds(chunks), limit)) {
    for (const { bytes } of lines) {
      size += bytes?.length ?? limit + 1
      if (bytes === undefined || size > limit)
        throw new ContractError('bodyTooLarge', `event ${number} of the body has more than ${limit} bytes`)
      const line = decodeUtf8(bytes, `event ${number} of the body`)
      if (line !== '') {
        add(line)
        continue
      }
      if (data.length > 0) {
        number++
        yield { ...others, data: data.join('\n') }
      }
      size = 0
      data = []
      others = {}
    }
  }

  function add(line: string): void {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'data') data.push(value)
    else if (field === 'event' && value !== '') others.event = value
    else if (field === 'id') others.id = value
    else if (field === 'retry' && /^\d{1,15}$/.test(value)) others.retry = Number(value)
  }
}
