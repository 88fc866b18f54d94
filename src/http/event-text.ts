/** One event of a stream (WHATWG HTML, section 9.2.6). A `data` that is a string is sent as it is, any other value as JSON. */
export type ServerSentEvent<Data = unknown> = {
  data: Data
  event?: string
  id?: string
  /** Milliseconds after which a client reconnects. */
  retry?: number
}

/** A comment, which clients pass over: it shows that the connection lives. */
export const emptyEvent = ':\n\n'

/** Returns the text of an event; `write` checks its data and returns them as JSON. Throws for a field that would break the stream. */
export function eventText({ data, event, id, retry }: ServerSentEvent, write: (data: unknown) => string): string {
  const json = write(data)
  const text = typeof data === 'string' ? data : json
  if (retry !== undefined && !(Number.isSafeInteger(retry) && retry >= 0)) {
    throw new Error('retry of an event must be a number of milliseconds')
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
