/** The messages in whose context a callback URL is computed: those of the operation that has the callback. */
export type CallbackContext = {
  /** The absolute URL of the request, for `$url`. */
  url?: string
  method?: string
  /** The request as its handler received it. */
  request?: { path?: object; query?: object; header?: object; body?: unknown }
  /** The response that the handler returned. */
  response?: { status?: number; headers?: object | undefined; body?: unknown }
}

type Lookup = (context: CallbackContext) => unknown

/**
 * Returns a function that computes the URL of a callback from its key, a runtime expression or a text with expressions
 * in braces (OpenAPI 3.1 section 4.8.20.4). The value at the beginning of a URL stays unchanged; any later one is
 * percent-encoded, so that it cannot change the path or add parameters. Throws a TypeError for an invalid expression.
 * The returned function throws one if the context lacks the value, if a later value makes a path segment `.` or `..`,
 * or if the result is no http or https URL.
 */
export function callbackUrl(key: string): (context: CallbackContext) => string {
  const parts = key.startsWith('$') ? [lookupOf(key)] : key.split(/(\{\$[^}]*\})/).map(textOrLookup)
  return function urlIn(context) {
    let text = ''
    let base = ''
    for (const part of parts) {
      if (typeof part === 'string') text += part
      else if (text === '') text = base = valueText(part(context), key)
      else text += encodeURIComponent(valueText(part(context), key))
    }
    // URL parsers drop or replace these characters, each in its own way, so a check of the text could see another URL.
    if (/[\p{Cc}\s\\]/u.test(text)) {
      throw new TypeError(`${key}: a URL cannot contain white space, control characters or backslashes`)
    }
    httpUrl(text)
    assertNoDotSegment(text, base, key)
    return text
  }
}

/** Throws a TypeError if a path segment that does not belong to the base is `.` or `..`: that would be another path. */
function assertNoDotSegment(text: string, base: string, key: string): void {
  const [path = ''] = text.split(/[?#]/)
  // URL parsers resolve such a segment even when it is percent-encoded.
  if (text !== base && /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path.slice(base.lastIndexOf('/') + 1)))
    throw new TypeError(`${key}: a path segment cannot be "." or ".."`)
}

const textOrLookup = (text: string): string | Lookup => (text.startsWith('{$') ? lookupOf(text.slice(1, -1)) : text)

/** Parses the URL of a request to another service. Throws a TypeError for any other scheme, such as `file:`. */
export function httpUrl(text: string | URL): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${JSON.stringify(String(text))} is not an http or https URL`)
  }
  return url
}

function valueText(value: unknown, key: string): string {
  if (/\p{Surrogate}/u.test(String(value))) throw new TypeError(`${key}: a value contains a lone surrogate`)
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  throw new TypeError(`${key} is missing, or is not a string, number or boolean`)
}

/**
 * Returns the value of a parameter of a link (OpenAPI 3.1 section 4.8.20): that of a runtime expression, a text with the
 * values of expressions in braces, or a constant itself. Returns undefined for an invalid expression, and if the context
 * lacks a value.
 */
export function runtimeValue(given: unknown, context: CallbackContext): unknown {
  if (typeof given !== 'string') return given
  try {
    if (given.startsWith('$')) return lookupOf(given)(context)
    return given.replace(/\{(\$[^}]*)\}/g, (_, expression) => valueText(lookupOf(expression)(context), given))
  } catch {
    return undefined
  }
}

const grammar = /^\$(?:(url|method|statusCode)|(request|response)\.(?:(header|query|path)\.(.+)|body(?:#(\/.*)?)?))$/s

/** Parses a runtime expression. */
function lookupOf(expression: string): Lookup {
  const [, whole, message, place, name = '', pointer = ''] = grammar.exec(expression) ?? []
  if (whole === undefined && (message === undefined || (message === 'response' && /query|path/.test(`${place}`)))) {
    throw new TypeError(
      `${expression} is not a runtime expression; use one such as $request.body#/url or $request.query.url`,
    )
  }
  if (whole === 'statusCode') return ({ response }) => response?.status
  if (whole !== undefined) return (context) => context[whole as 'url' | 'method']
  if (place === undefined) return (context) => valueAt(context[message as 'request' | 'response']?.body, pointer)
  if (place !== 'header') return ({ request }) => own(request?.[place as 'query' | 'path'], name)
  return ({ request, response }) => {
    const headers = (message === 'request' ? request?.header : response?.headers) ?? {}
    // The names of headers are case-insensitive (RFC 9110 section 5.1).
    return Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  }
}

const own = (holder: unknown, key: string): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as Record<string, unknown>)[key]
    : undefined

/** Returns the value at a JSON pointer (RFC 6901). */
function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of pointer.split('/').slice(1)) value = own(value, key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return value
}
