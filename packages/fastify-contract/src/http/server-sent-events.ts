/** A server-sent event (WHATWG HTML, section 9.2.6). `data` is sent as it is if it is a string, else as JSON. */
export type ServerSentEvent<Data = unknown> = {
  data: Data
  event?: string
  id?: string
  /** Milliseconds after which a client reconnects. */
  retry?: number
}

/** A comment, which clients ignore; it keeps the connection alive. */
export const keepAliveComment = ':\n\n'

/**
 * Returns the text of an event. `write` validates the data and serializes it to JSON. Throws for an `event`, `id` or
 * `retry` that is invalid in an event stream.
 */
export function serializeEvent({ data, event, id, retry }: ServerSentEvent, write: (data: unknown) => string): string {
  const json = write(data)
  const text = typeof data === 'string' ? data : json
  if (retry !== undefined && !(Number.isSafeInteger(retry) && retry >= 0)) {
    throw new Error('retry of an event must be an integer number of milliseconds')
  }
  const fields = [
    ...(event === undefined ? [] : [`event: ${line('event', event)}`]),
    ...(id === undefined ? [] : [`id: ${line('id', id)}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...text.split(/\r\n|\r|\n/).map((each) => `data: ${each}`),
  ]
  return `${fields.join('\n')}\n\n`
}

function line(name: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a client ignores an id with NUL
  if (/[\r\n\u0000]/.test(text)) throw new Error(`${name} of an event must be one line without NUL`)
  return text
}
