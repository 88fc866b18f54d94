import { allowsOther } from '../contract/event-data.ts'
import { recordSeparator } from '../contract/media-types.ts'
import type { ReceivedEvent } from './operation-types.ts'
import { parseExact, type ResponseSchemaNode } from './parse-response.ts'

/** What the client needs to know of the items of a response in a sequential media type. */
export type ItemFormat = {
  /** The index of the node of each item, or of the data of each event, where it holds an int64. */
  node?: number
  /** The types of the data of events; none for any type. Items of JSON Lines and JSON text sequences have no such member. */
  types?: string[]
}

/** The formats of items by operation (method and path), status, and media type without parameters. */
export type ItemResponses = Record<string, Record<string, Record<string, ItemFormat>>>

/** The characters that end a part of a stream. WHATWG HTML section 9.2.5 defines those of events. */
const ends = { lines: /\n/, sequence: new RegExp(recordSeparator), events: /\r\n?|\n/ }

type Form = keyof typeof ends

type Reading = ItemFormat & {
  form: Form
  nodes: ResponseSchemaNode[]
  /** The greatest number of characters of an item. */
  limit: number
  /** The method and path, for errors. */
  name: string
}

/**
 * Returns how to read the items of a response, if the document lists its media type as a sequence of items. `formats` are
 * those of the status.
 */
export function itemFormat(
  formats: Record<string, ItemFormat> | undefined,
  { headers, body }: Response,
): (ItemFormat & { form: Form }) | undefined {
  const essence = String(headers.get('content-type'))
    .replace(/[ \t]*;.*$/s, '')
    .toLowerCase()
  if (body === null || formats === undefined || !Object.hasOwn(formats, essence)) return undefined
  const format = formats[essence] as ItemFormat
  return { ...format, form: format.types ? 'events' : essence.endsWith('json-seq') ? 'sequence' : 'lines' }
}

/**
 * Yields the items of a response as they arrive. Throws for an item that is too long or not JSON, and the error of
 * `fetch` if the stream breaks. Cancels the response when the caller stops before its end.
 */
export const readItems = (response: Response, reading: Reading): AsyncGenerator<unknown> => {
  const parts = splitText(response.body as ReadableStream<Uint8Array>, reading)
  return reading.form === 'events' ? readEvents(parts, reading) : readTexts(parts, reading)
}

/** Yields the values of JSON Lines or a JSON text sequence. Skips empty texts. */
async function* readTexts(parts: AsyncGenerator<string>, reading: Reading): AsyncGenerator<unknown> {
  let number = 1
  for await (const text of parts) {
    if (text.trim() === '') continue
    // RFC 7464 section 2.4: a number, true, false or null may have been cut off.
    if (reading.form === 'sequence' && /[^\s"}\]]$/.test(text))
      throw new SyntaxError(`item ${number} of ${reading.name} may be incomplete`)
    yield parseItem(text, `item ${number++}`, reading)
  }
}

/**
 * Yields events as WHATWG HTML section 9.2.6 interprets them: comments, unknown fields and invalid values are ignored,
 * and so are events without data and an event that no empty line ends. An `id` or `retry` without data belongs to the
 * next event, so that the caller sees it.
 */
async function* readEvents(lines: AsyncGenerator<string>, reading: Reading): AsyncGenerator<ReceivedEvent<unknown>> {
  let number = 1
  let length = 0
  let data: string[] = []
  let event: string | undefined
  let others: Pick<ReceivedEvent<unknown>, 'id' | 'retry'> = {}
  for await (const line of lines) {
    length += line.length
    if (length > reading.limit) throw tooLong(reading)
    if (line !== '') {
      add(line)
      continue
    }
    if (data.length > 0) {
      yield { data: dataOf(data.join('\n'), `event ${number++}`), ...(event && { event }), ...others }
      others = {}
    }
    length = 0
    data = []
    event = undefined
  }

  function add(line: string): void {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as unknown as [string, string, string?]
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) others.id = value
    else if (field === 'retry' && /^\d+$/.test(value)) others.retry = Number(value)
  }

  /** Parses data as the service writes them: a string as it is, any other value as JSON. */
  function dataOf(text: string, item: string): unknown {
    const types = reading.types as string[]
    if (types.length > 0 && !types.includes('string')) return parseItem(text, item, reading)
    if (types.length === 1) return text
    try {
      const value = parseItem(text, item, reading)
      return allowsOther(types, value) ? value : text
    } catch {
      return text
    }
  }
}

function parseItem(text: string, item: string, { nodes, node = -1, name }: Reading): unknown {
  try {
    return parseExact(text, nodes, nodes[node])
  } catch (error) {
    throw new SyntaxError(`${item} of ${name}: ${(error as Error).message}`, { cause: error })
  }
}

const tooLong = ({ name, limit }: Reading) =>
  new RangeError(`an item of ${name} has more than ${limit} characters; set maxItemLength`)

/** Yields the texts between the ends of a stream in UTF-8, as they arrive, and what follows the last end. */
async function* splitText(body: ReadableStream<Uint8Array>, reading: Reading): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Not an asynchronous iteration of the body, which some browsers lack.
  const reader = body.getReader()
  let parts: string[] = []
  let length = 0
  let isSplit = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      let text = decoder.decode(value, { stream: !done })
      // A CR ended a line already, so that its event need not wait for an LF.
      if (isSplit && text.startsWith('\n')) text = text.slice(1)
      if (text !== '') isSplit = reading.form === 'events' && text.endsWith('\r')
      const [first = '', ...others] = text.split(ends[reading.form])
      add(first)
      for (const other of others) {
        yield parts.join('')
        parts = []
        length = 0
        add(other)
      }
      if (done) break
    }
    const rest = parts.join('')
    // An event stream that ends after a line end has no empty line after it.
    if (rest !== '') yield rest
  } finally {
    // Closes the connection if the caller stops early.
    await reader.cancel().catch(() => {})
  }

  function add(part: string): void {
    parts.push(part)
    length += part.length
    if (length > reading.limit) throw tooLong(reading)
  }
}
