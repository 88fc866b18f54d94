import { type Document, endpoints } from '../document/openapi-document.ts'
import { credentialOf } from '../document/security-schemes.ts'
import type { Target, TestRequest, TestResponse, Violation } from './exchange.ts'
import { credentialsPlaceholder, type ShownRequest, type ShownResponse } from './results.ts'

/**
 * Returns a function that returns a request as reports show it: with the target that the server gets, and with a placeholder
 * for each credential.
 */
export function requestPrinter(
  document: Document,
  { sentTarget = ({ target }) => target }: Pick<Target, 'sentTarget'> = {},
): (request: TestRequest) => ShownRequest {
  const names = { header: new Set(['authorization']), query: new Set<string>(), cookie: new Set<string>() }
  for (const scheme of endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys))) {
    const credential = credentialOf(document, scheme)
    if (credential === undefined) continue
    names[credential.in].add(credential.in === 'header' ? credential.name.toLowerCase() : credential.name)
  }
  return shownRequest

  function shownRequest(request: TestRequest): ShownRequest {
    const { method, headers, body } = request
    const shown: ShownRequest['headers'] = []
    for (const [name, value] of Object.entries(headers)) {
      if (names.header.has(name)) shown.push([name, placeholderOf(value)])
      else shown.push([name, name === 'cookie' ? withPlaceholders(value, /;\s*/, '; ', names.cookie) : value])
    }
    const [path = '', query] = sentTarget(request).split(/\?(.*)/s)
    const safe = query === undefined ? path : `${path}?${withPlaceholders(query, '&', '&', names.query)}`
    return { method, target: safe, headers: shown, body }
  }
}

/** Returns a placeholder with the scheme of the credentials, such as `Bearer`. */
const placeholderOf = (value: string): string => {
  const [, scheme] = /^([A-Za-z]+) /.exec(value) ?? []
  return scheme === undefined ? credentialsPlaceholder : `${scheme} ${credentialsPlaceholder}`
}

/** Returns pairs of name and value with placeholders for the values of some names. */
function withPlaceholders(text: string, separator: string | RegExp, joint: string, names: Set<string>): string {
  if (names.size === 0) return text
  return text
    .split(separator)
    .map(function hideValue(pair) {
      const [name = ''] = pair.split('=', 1)
      return names.has(decoded(name)) ? `${name}=${credentialsPlaceholder}` : pair
    })
    .join(joint)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The maximum number of bytes of the body of a response in a report. */
const maxBody = 4_096

/** Returns a response as reports show it: without cookies, which may be credentials, and with the beginning of its body. */
export function shownResponse({ status, headers, body, milliseconds }: TestResponse): ShownResponse {
  const { 'set-cookie': _, ...others } = headers
  return { status, headers: others, body: body.subarray(0, maxBody), milliseconds }
}

/** Returns why a request is invalid, as a text. */
export const violationText = ({ part, place, reason }: Violation): string =>
  [part, place, reason].filter((text) => text !== '').join(' ')
