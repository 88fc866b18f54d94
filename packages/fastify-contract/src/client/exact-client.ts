import type { Imported } from '../contract/generated-types.ts'
import { type AttemptOutcome, addKey, keyHeaderName, sendWithRetries } from './keyed-retries.ts'
import type { CallArguments, CallOptions, CallOutcome, OperationAt, ParseAs, PathOf, Tags } from './operation-types.ts'
import { type Int64Responses, ofStatus, parseExact } from './parse-response.ts'
import {
  type CallParameters,
  type CallStyles,
  callRequest,
  pairWriter,
  requestTarget,
  sentBody,
} from './request-serialization.ts'
import { type ItemResponses, itemFormat, readItems } from './response-items.ts'

export type { ReceivedEvent } from './operation-types.ts'
export type { Int64Responses, ResponseSchemaNode } from './parse-response.ts'
export {
  type CallStyles,
  expandPath,
  type ParameterPair,
  type ParameterStyle,
  pairText,
  parameterPairs,
  sentBody,
} from './request-serialization.ts'
export type { ItemFormat, ItemResponses } from './response-items.ts'

/** The options of a client. Those of `fetch`, such as `headers` and `credentials`, apply to each call. */
export type ClientOptions = Omit<RequestInit, 'method' | 'body'> & {
  /** The base URL of the service: its origin and, where it has one, the path before the paths of the document. */
  baseUrl: string
  /** The access token (RFC 6750), or a function that returns one for each request, so that it can be rotated. */
  token?: string | (() => string | Promise<string>)
  /** The function that sends a request; default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /** How often a request with an idempotency key is sent again; default: 2. */
  retries?: number
  /** The number of characters above which an item of a streamed response is an error; default: 1,048,576. */
  maxItemLength?: number
}

/** The methods of a client. TRACE is missing because `fetch` rejects it. */
export const clientMethods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'QUERY'] as const

type Method = (typeof clientMethods)[number]

/**
 * A client with one function for each method. Its arguments are a path of the document and the `{ params, body,
 * contentType }` of the operation. It resolves with `{ status, data, response }`, or with `{ status, error, response }`
 * when the status is not 2xx. It rejects when there is no response, or when a 2xx response is neither JSON nor a sequence
 * of items that the document lists, unless `parseAs` names another form.
 */
export type ExactClient<Paths extends object> = {
  [Name in Method]: <Path extends PathOf<Paths, Lowercase<Name>>, As extends ParseAs = 'json'>(
    path: Path,
    ...options: CallArguments<CallOptions<OperationAt<Paths, Path, Lowercase<Name>>, As>>
  ) => Promise<CallOutcome<OperationAt<Paths, Path, Lowercase<Name>>, Lowercase<Name>, As>>
}

/**
 * The content of `generated/client.json`, what the client needs of a document: the nodes of int64 values in responses,
 * the formats of their items, the styles of parameters, and the operations with idempotency keys, each as its method and
 * path.
 */
export type CallTable = Partial<Int64Responses> & {
  items?: ItemResponses
  parameters?: CallStyles
  keyed?: string[]
}

/** Creates a client of the document whose types are `Paths`. */
export function exactClient<Paths extends object>(
  table: Imported<CallTable>,
  {
    baseUrl: ownUrl,
    token,
    fetch: send = globalThis.fetch,
    retries: ownRetries = 2,
    maxItemLength: ownLength = 1_048_576,
    ...defaults
  }: ClientOptions,
): ExactClient<Paths> {
  const { nodes = [], responses = {}, items = {}, parameters = {}, keyed = [] } = table as CallTable

  async function call(method: Method, path: string, init: Init = {}) {
    const { params = {}, body: value, contentType, fetch = send, baseUrl = ownUrl, parseAs = 'json', ...others } = init
    const { retries = ownRetries, maxItemLength: limit = ownLength, ifMatch, ifNoneMatch, ...given } = others
    const name = `${method} ${path}`
    const pairs = pairWriter(name, params, parameters)
    const body = sentBody(value, contentType, parameters[name])
    const headers = new Headers(defaults.headers)
    for (const [name, text] of new Headers(given.headers)) headers.set(name, text)
    if (ifMatch !== undefined) headers.set('if-match', tagList(ifMatch))
    if (ifNoneMatch !== undefined) headers.set('if-none-match', tagList(ifNoneMatch))
    const url = baseUrl.replace(/\/+$/, '') + requestTarget(path, pairs)
    for (const [name, text] of pairs('header')) headers.set(name, text)
    if (keyed.includes(name)) addKey(headers)
    const { response, text } = await sendWithRetries(sendOnce, {
      retries: headers.has(keyHeaderName) && !isStream(body.body) ? retries : 0,
      signal: given.signal ?? defaults.signal,
    })
    const { status, ok } = response
    if (ok && parseAs !== 'json') return { status, data: await bodyAs(response, parseAs), response }
    const format = formatOf(response)
    if (format !== undefined) return { status, data: readItems(response, { ...format, nodes, limit, name }), response }
    const root = nodes[ofStatus(responses[name], status) ?? -1]
    const parse = () => (text ? parseExact(text, nodes, root) : undefined)
    return ok ? { status, data: parse(), response } : { status, error: parsedOr(text, parse), response }

    /** Sends the request once, with a token of now. */
    async function sendOnce(): Promise<AttemptOutcome> {
      const request = callRequest(url, { ...defaults, ...given, headers, method }, [], body)
      const bearer = typeof token === 'function' ? await token() : token
      if (bearer !== undefined) request.headers.set('authorization', `Bearer ${bearer}`)
      const response = await fetch(request)
      const isWhole = !response.ok || (parseAs === 'json' && formatOf(response) === undefined)
      return isWhole ? { response, text: await response.text() } : { response }
    }

    /** Returns how to read the items of a response; undefined if it has none. */
    function formatOf(response: Response): ReturnType<typeof itemFormat> {
      return response.ok ? itemFormat(ofStatus(items[name], response.status), response) : undefined
    }
  }
  const bound = clientMethods.map((method) => [method, call.bind(undefined, method)])
  return Object.fromEntries(bound) as unknown as ExactClient<Paths>
}

type Init = Omit<RequestInit, 'body'> & {
  params?: CallParameters
  body?: unknown
  contentType?: string
  fetch?: NonNullable<ClientOptions['fetch']>
  baseUrl?: string
  parseAs?: ParseAs
  ifMatch?: Tags
  ifNoneMatch?: Tags
  retries?: number
  maxItemLength?: number
}

const tagList = (tags: Tags): string => [tags].flat().join(', ')

/** Returns the body of a response as it came; undefined if there is none. */
async function bodyAs(response: Response, parseAs: Exclude<ParseAs, 'json'>): Promise<unknown> {
  if (response.body === null) return undefined
  return parseAs === 'stream' ? response.body : await response[parseAs]()
}

/** Returns whether a body can be read only once. Some browsers cannot iterate a stream. */
const isStream = (body: unknown): boolean => body instanceof ReadableStream || Symbol.asyncIterator in Object(body)

/** Returns the parsed body of an error, or its text: a proxy, unlike the service, may send HTML. */
function parsedOr(text: string | undefined, parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return text
  }
}
