import { ContractError } from '../contract/errors.ts'
import { allowsOther } from '../contract/event-data.ts'
import { itemPrefix, recordSeparator } from '../contract/media-types.ts'
import { readEvents } from '../http/read-events.ts'
import { readLines } from '../http/read-lines.ts'
import type { ServerSentEvent } from '../http/streams.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'
import type { ValidatePart } from '../schema/validator.ts'
import { parseJsonText } from './json-body.ts'

/*
 * Bodies in sequential media types (OpenAPI 3.2 section 4.14.4), each item of which is validated as it arrives.
 */

/**
 * Yields the validated items of a body of JSON Lines, one for each line that is not empty, or of a JSON text sequence.
 * Throws a ContractError for an item that is not JSON, is invalid, or has more than `limit` bytes.
 */
export async function* jsonItems(
  stream: AsyncIterable<Buffer>,
  mediaType: string,
  validate: ValidatePart,
  limit: number,
): AsyncGenerator<unknown> {
  const isSequence = itemPrefix(mediaType) === recordSeparator
  const end = isSequence ? recordSeparator.charCodeAt(0) : undefined
  for await (const lines of readLines(stream, limit, end)) {
    for (const { number, bytes } of lines) {
      // The first text of a sequence begins after the first separator.
      const item = isSequence ? `item ${number - 1}` : `line ${number}`
      if (bytes === undefined)
        throw new ContractError('bodyTooLarge', `${item} of the body has more than ${limit} bytes`)
      const text = bytes.toString()
      if (text.trim() === '') continue
      // RFC 7464 section 2.4: a number, true, false or null may have been cut off.
      if (isSequence && /[^\s"}\]]$/.test(text))
        throw new ContractError('notJson', `${item} of the body may be incomplete; end it with a line feed`)
      yield validItem(parseJsonText(bytes, `${item} of the body`), validate, item)
    }
  }
}

/** Yields the events of a body with validated data. Throws a ContractError for an event that is invalid or too large. */
export async function* validEvents(
  stream: AsyncIterable<Buffer>,
  types: string[],
  validate: ValidatePart,
  limit: number,
): AsyncGenerator<ServerSentEvent> {
  let number = 1
  for await (const event of readEvents(stream, limit)) {
    const item = `event ${number++}`
    yield { ...event, data: validItem(eventData(event.data, types, `the data of ${item}`), validate, item) }
  }
}

/**
 * Parses the data of an event, the reverse of `serializeEvent`, which writes a string as it is and other values as JSON.
 * So a text is JSON if the schema allows no strings, or if it is the JSON of another type that the schema allows.
 * Otherwise the text is the string itself.
 */
function eventData(text: string, types: string[], name: string): JsonDocument {
  const string = { value: text, length: text.length }
  if (types.length > 0 && !types.includes('string')) return parseJsonText(text, name)
  if (types.length === 1) return string
  try {
    const document = parseJson(text)
    return allowsOther(types, document.value) ? document : string
  } catch {
    return string
  }
}

function validItem(document: JsonDocument, validate: ValidatePart, name: string): unknown {
  const result = validate(document)
  if ('value' in result) return result.value
  const { kind, message, headers, statusCode } = result.error
  throw new ContractError(kind, `${name}: ${message}`, headers, statusCode)
}
