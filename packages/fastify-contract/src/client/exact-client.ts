import type { Imported } from '../contract/generated-types.ts'
import { isRoundedInteger } from '../json/decimal.ts'
import { exactInteger, exactNumberOf, type JsonDocument, roundedInteger } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'
import { addKey, keyHeaderName, sendWithRetries } from './keyed-retries.ts'
import type { CallArguments, CallOptions, CallOutcome, OperationAt, ParseAs, PathOf, Tags } from './operation-types.ts'
import {
  type CallParameters,
  type CallStyles,
  callRequest,
  pairWriter,
  requestTarget,
  sentBody,
} from './request-serialization.ts'

export {
  type CallStyles,
  expandPath,
  type ParameterPair,
  type ParameterStyle,
  pairText,
  parameterPairs,
  sentBody,
} from './request-serialization.ts'

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
}

/** The methods of a client. TRACE is missing because `fetch` rejects it. */
export const clientMethods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'QUERY'] as const

type Method = (typeof clientMethods)[number]

/**
 * A client with one function for each method. Its arguments are a path of the document and the `{ params, body,
 * contentType }` of the operation. It resolves with `{ status, data, response }`, or with `{ status, error, response }`
 * when the status is not 2xx. It rejects when there is no response, or when a 2xx response is not JSON, unless `parseAs`
 * names another form.
 */
export type ExactClient<Paths extends object> = {
  [Name in Method]: <Path extends PathOf<Paths, Lowercase<Name>>, As extends ParseAs = 'json'>(
    path: Path,
    ...options: CallArguments<CallOptions<OperationAt<Paths, Path, Lowercase<Name>>, As>>
  ) => Promise<CallOutcome<OperationAt<Paths, Path, Lowercase<Name>>, Lowercase<Name>, As>>
}

/**
 * The content of `generated/client.json`, what the client needs of a document: the nodes of int64 values in responses,
 * the styles of parameters, and the operations with idempotency keys, each as its method and path.
 */
export type CallTable = Partial<Int64Responses> & { parameters?: CallStyles; keyed?: string[] }

/** Creates a client of the document whose types are `Paths`. */
export function exactClient<Paths extends object>(
  table: Imported<CallTable>,
  { baseUrl: ownUrl, token, fetch: send = globalThis.fetch, retries: ownRetries = 2, ...defaults }: ClientOptions,
): ExactClient<Paths> {
  const { nodes = [], responses = {}, parameters = {}, keyed = [] } = table as CallTable

  async function call(method: Method, path: string, init: Init = {}) {
    const { params = {}, body: value, contentType, fetch = send, baseUrl = ownUrl, parseAs = 'json', ...others } = init
    const { retries = ownRetries, ifMatch, ifNoneMatch, ...given } = others
    const pairs = pairWriter(`${method} ${path}`, params, parameters)
    const body = sentBody(value, contentType, parameters[`${method} ${path}`])
    const headers = new Headers(defaults.headers)
    for (const [name, text] of new Headers(given.headers)) headers.set(name, text)
    if (ifMatch !== undefined) headers.set('if-match', tagList(ifMatch))
    if (ifNoneMatch !== undefined) headers.set('if-none-match', tagList(ifNoneMatch))
    const url = baseUrl.replace(/\/+$/, '') + requestTarget(path, pairs)
    for (const [name, text] of pairs('header')) headers.set(name, text)
    if (keyed.includes(`${method} ${path}`)) addKey(headers)
    const response = await sendWithRetries(sendOnce, {
      retries: headers.has(keyHeaderName) && !(body.body instanceof ReadableStream) ? retries : 0,
      signal: given.signal ?? defaults.signal,
    })
    const { status, ok } = response
    if (ok && parseAs !== 'json') return { status, data: await bodyAs(response, parseAs), response }
    const text = await response.text()
    const parse = () => parseResponse(text, { nodes, responses }, `${method} ${path}`, status)
    return ok ? { status, data: parse(), response } : { status, error: parsedOr(text, parse), response }

    /** Sends the request once, with a token of now. */
    async function sendOnce(): Promise<Response> {
      const request = callRequest(url, { ...defaults, ...given, headers, method }, [], body)
      const bearer = typeof token === 'function' ? await token() : token
      if (bearer !== undefined) request.headers.set('authorization', `Bearer ${bearer}`)
      return await fetch(request)
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
}

const tagList = (tags: Tags): string => [tags].flat().join(', ')

/** Returns the body of a response as it came; undefined if there is none. */
async function bodyAs(response: Response, parseAs: Exclude<ParseAs, 'json'>): Promise<unknown> {
  if (response.body === null) return undefined
  return parseAs === 'stream' ? response.body : await response[parseAs]()
}

/** Returns the parsed body of an error, or its text: a proxy, unlike the service, may send HTML. */
function parsedOr(text: string, parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return text
  }
}

/**
 * The schemas of one location in a response body. The schemas below are indexes into the list of nodes; null where
 * there is no int64.
 */
export type ResponseSchemaNode = {
  /** Whether a number here is an int64. */
  int64?: boolean
  /** By member name or item index. */
  members?: Record<string, number | null>
  /** The node of all other members and items. */
  others?: number
}

/**
 * The responses of a document that contain an int64. `responses` has the index of the root node, by operation (method
 * and path) and by status; null where there is no int64.
 */
export type Int64Responses = {
  nodes: ResponseSchemaNode[]
  responses: Record<string, Record<string, number | null>>
}

/** Matches each text with a number of 16 digits or a large exponent: a double holds 15 digits. */
const mayBeRounded = /[\d.]{16}|\d[eE]\+?\d{3}/

/** Replaces the integers that were rounded. Returns the JSON pointer to one that cannot be. */
function keepIntegers(document: JsonDocument): string | undefined {
  for (const [holder, members] of document.exactNumbers ?? []) {
    for (const [key, exact] of members) {
      const isRounded = typeof exact === 'string' && isRoundedInteger(exact)
      const integer = isRounded ? exactInteger(exact) : undefined
      if (integer !== undefined) (holder as Record<string | number, unknown>)[key] = integer
    }
  }
  return roundedInteger(document, true, () => true)
}

/**
 * Parses the JSON text of a response and converts every int64 to a bigint. An exact status precedes its range, and a
 * range precedes `default`. Any other integer of at most 20 digits is a bigint only if a double would round it. Nothing
 * is validated: a value that is not an integer stays unchanged. Throws when a text with an int64 or such an integer is
 * not I-JSON (RFC 7493), and for an integer of more digits.
 */
function parseResponse(text: string, { nodes, responses }: Int64Responses, operation: string, status: number): unknown {
  if (text === '') return undefined
  const byStatus = responses[operation] ?? {}
  const key = [String(status), `${Math.trunc(status / 100)}XX`, 'default'].find((key) => Object.hasOwn(byStatus, key))
  const root = nodes[byStatus[key as string] ?? -1]
  if (root === undefined && !mayBeRounded.test(text)) return JSON.parse(text)
  const document = parseJson(text)
  if (root !== undefined) convert(document, 'value', root)
  const rounded = keepIntegers(document)
  if (rounded !== undefined)
    throw new RangeError(`the response has a number that cannot be exact, at ${rounded || '/'}`)
  return document.value

  function convert(holder: object, key: string | number, { int64, members = {}, others }: ResponseSchemaNode): void {
    const value = (holder as Record<string | number, unknown>)[key]
    if (int64 && typeof value === 'number') {
      const exact = exactNumberOf(document, holder, key) ?? String(value)
      ;(holder as Record<string | number, unknown>)[key] = exactInteger(exact) ?? value
    }
    if (typeof value !== 'object' || value === null) return
    for (const below of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      const node = nodes[(Object.hasOwn(members, below) ? members[below] : others) ?? -1]
      if (node !== undefined) convert(value, below, node)
    }
  }
}
