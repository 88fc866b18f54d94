import { stringifyJson } from '../json/write-json.ts'

/** The styles of form fields that differ from the default, by kind of form and by name. */
type FieldStyles = Partial<Record<string, Record<string, ParameterStyle>>>

/** A body for `fetch`. `contentType` is missing where `fetch` sets it. */
type SentBody = { body: NonNullable<RequestInit['body']> | null; contentType?: string }

/**
 * Serializes the body of a call in a media type, by default JSON. For JSON the body is any value, and for a form an
 * object; a list of items is written as JSON Lines or a JSON text sequence, and texts and bytes stay unchanged. Throws a TypeError for a form
 * field that its style cannot represent.
 */
export function sentBody(body: unknown, contentType = 'application/json', styles: FieldStyles = {}): SentBody {
  if (body === undefined) return { body: null }
  const essence = contentType.replace(/[ \t]*;.*$/s, '').toLowerCase()
  // RFC 6839 section 3.1: the suffix +json marks a JSON format.
  if (/[/+]json$/.test(essence)) return { body: stringifyJson(body) as string, contentType }
  if (essence === 'multipart/form-data') return { body: formDataOf(body as object, styles.multipart) }
  // RFC 7464 section 2.2: a record separator begins each text of a sequence.
  const prefix = essence.endsWith('json-seq') ? '\x1e' : ''
  if (Array.isArray(body))
    return { body: body.map((item) => `${prefix}${stringifyJson(item)}\n`).join(''), contentType }
  if (essence !== 'application/x-www-form-urlencoded')
    return { body: body as Exclude<SentBody['body'], null>, contentType }
  return { body: queryOf(fieldsOf(body as object, styles.form)), contentType }
}

/**
 * Creates the request of a call, with header parameters. The media type of the body is sent unless `init` has another
 * Content-Type.
 */
export function callRequest(
  url: string | URL,
  init: RequestInit,
  parameters: ParameterPair[],
  { body, contentType }: SentBody,
): Request {
  const headers = new Headers(init.headers)
  for (const [name, value] of parameters) headers.set(name, value)
  if (contentType !== undefined && !headers.has('content-type')) headers.set('content-type', contentType)
  const stream = body instanceof ReadableStream && { duplex: 'half' as const }
  return new Request(url, { ...init, ...stream, headers, body })
}

const fieldsOf = (form: object, styles: Record<string, ParameterStyle> = {}, place = 'body'): ParameterPair[] =>
  membersOf(form).flatMap(([name, value]) => {
    const style = own(styles, name) ?? { isJson: isObject(value) }
    return parameterPairs({ ...style, in: 'query', name }, value, rejectAt(`${place}/${name}`))
  })

/** Returns a function that throws a TypeError for a value at a place. */
const rejectAt = (place: string) => (problem: string) => {
  throw new TypeError(`${place}: ${problem}`)
}

function formDataOf(form: object, styles: Record<string, ParameterStyle> = {}): FormData {
  const data = new FormData()
  for (const [name, value] of membersOf(form)) {
    const { isJson = false, mediaType } = (Object.hasOwn(styles, name) && styles[name]) || {}
    for (const item of [value].flat()) {
      if (item !== undefined) data.append(name, formDataEntry(item, isJson || isObject(item), mediaType))
    }
  }
  return data
}

function formDataEntry(item: unknown, isJson: boolean, type?: string): string | Blob {
  if (item instanceof Blob) return item
  const text = isJson ? String(stringifyJson(item)) : String(item ?? '')
  // FormData normalizes the line breaks of a string, but not those of a Blob (WHATWG HTML section 4.10.22.8).
  const isBlob = isJson || type !== undefined || /[\r\n]/.test(text)
  return isBlob ? new Blob([text], { type: type ?? (isJson ? 'application/json' : 'text/plain') }) : text
}

const membersOf = (form: object): [string, unknown][] => Object.entries(form).filter(isDefined)

const isDefined = ([, value]: [string, unknown]) => value !== undefined

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The style of a parameter or form field where it differs from the default of its location (OpenAPI 3.1 section
 * 4.8.12.2.1). `mediaType` is that of a multipart part, where it is neither text/plain nor application/json.
 */
export type ParameterStyle = {
  style?: string
  explode?: boolean
  isJson?: boolean
  mediaType?: string
  /** An empty list is written as an empty text, which the service cannot take for an item. */
  isPlain?: boolean
  /** The value is the whole query string: one JSON text, or a form with `fields` of these styles. */
  isWhole?: boolean
  fields?: Record<string, ParameterStyle>
}

/** The styles of parameters that differ from the default, by method and path, by location and by name. */
export type CallStyles = Record<string, Record<string, Record<string, ParameterStyle>>>

/** The parameters of a call by location. */
export type CallParameters = Partial<Record<'path' | 'query' | 'header', Record<string, unknown>>>

/** Serializes the parameters of one location to pairs of name and value. */
type PairsOf = (location: keyof CallParameters & ParameterLocation) => ParameterPair[]

/**
 * Returns a function that serializes the parameters of a call, without undefined ones. `operation` is a method and a
 * path. The function throws a TypeError for a value that its style cannot represent.
 */
export function pairWriter(operation: string, params: CallParameters, styles: CallStyles): PairsOf {
  const ofOperation = own(styles, operation)
  return function pairsOf(location) {
    const ofLocation = own(ofOperation, location)
    return membersOf(params[location] ?? {}).flatMap(([name, value]) =>
      parameterPairs({ ...own(ofLocation, name), in: location, name }, value, rejectAt(`${location}/${name}`)),
    )
  }
}

/**
 * Returns the path and query of a call. Throws a TypeError when a parameter of the path is empty, or a segment is `.`
 * or `..`: that would be another path.
 */
export function requestTarget(template: string, pairs: PairsOf): string {
  const parameters = pairs('path')
  const empty = parameters.find(([, text]) => text === '')
  if (empty !== undefined) throw new TypeError(`path/${empty[0]}: cannot be empty`)
  const path = expandPath(template, parameters)
  // URL parsers resolve such a segment even when it is percent-encoded.
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new TypeError(`${template}: a path segment cannot be "." or ".."`)
  const query = queryOf(pairs('query'))
  return query === '' ? path : `${path}?${query}`
}

/** Returns an own property only: a name such as `toString` is also that of an inherited property. */
const own = <T>(holder: Record<string, T> | undefined, name: string): T | undefined =>
  holder !== undefined && Object.hasOwn(holder, name) ? holder[name] : undefined

/** A name and a percent-encoded value. A lone name has no equals sign. */
export type ParameterPair = [name: string, value: string, isLone?: true]

type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

/** The delimiters between the parts of a value, where they are not commas (OpenAPI 3.1 section 4.8.12.3). */
const delimiters: Record<string, string> = { spaceDelimited: '%20', pipeDelimited: '%7C' }
const explodedDelimiters: Record<string, string> = { label: '.', matrix: ';' }

type Writing = Required<Pick<ParameterStyle, 'style' | 'explode' | 'isPlain'>> & {
  in: ParameterLocation
  name: string
  /** The prefix of a value in its style. */
  prefix: string
  reject: (problem: string) => void
}

/**
 * Serializes a parameter to pairs of name and value, as the service parses them. An empty array has a pair only with
 * `isPlain`. Undefined items and properties are left out. Values are percent-encoded, except in a header. Calls `reject`
 * for a value that the style cannot represent.
 */
export function parameterPairs(
  {
    in: location,
    name,
    isJson,
    isWhole,
    isPlain = false,
    fields,
    ...given
  }: ParameterStyle & { in: ParameterLocation; name: string },
  value: unknown,
  reject: (problem: string) => void = () => {},
): ParameterPair[] {
  if (isWhole && fields !== undefined) return fieldsOf(value as object, fields, `${location}/${name}`)
  // Without isJson the value is already a JSON text.
  if (isWhole) return [[isJson ? String(stringifyJson(value)) : String(value), '', true]]
  const { style = location === 'path' || location === 'header' ? 'simple' : 'form' } = given
  const { explode = style === 'form' || style === 'deepObject' } = given
  if (isJson) {
    return [[name, location === 'header' ? asciiJson(value) : encodeURIComponent(String(stringifyJson(value)))]]
  }
  const prefix = { label: '.', matrix: `;${encodeURIComponent(name)}=` }[style] ?? ''
  const writing = { in: location, name, style, explode, isPlain, prefix, reject }
  if (style === 'deepObject') return nestedPairs(writing, name, value)
  if (Array.isArray(value)) return listPairs(writing, value)
  if (typeof value === 'object' && value !== null) return objectPairs(writing, value)
  return [[name, prefix + encoded(writing, textOf(value))]]
}

function listPairs(writing: Writing, list: unknown[]): ParameterPair[] {
  const { in: location, name, style, explode, isPlain, prefix, reject } = writing
  const items = list.filter((item) => item !== undefined).map((item) => part(writing, item))
  if (items.length === 0 && isPlain && (location !== 'path' || prefix !== '')) return [[name, prefix]]
  if (style === 'form' && explode) return items.map((item) => [name, item])
  const delimiter = style === 'matrix' && explode ? prefix : delimiterOf(writing)
  if (items.length > 0) return [[name, prefix + items.join(delimiter)]]
  if (location === 'path') reject('a path cannot contain an empty array')
  return []
}

function objectPairs(writing: Writing, object: object): ParameterPair[] {
  const { in: location, name, style, explode, prefix, reject } = writing
  const entries = membersOf(object)
  if (style === 'form' && explode) return entries.map(([key, member]) => [key, part(writing, member)])
  if (entries.length === 0 && location === 'path') reject('a path cannot contain an empty object')
  if (explode && location === 'header' && entries.some(([key]) => key.includes('='))) {
    reject('the name of a property cannot contain "="')
  }
  const delimiter = delimiterOf(writing)
  const parts: string[] = []
  for (const [key, member] of entries)
    parts.push(part(writing, key) + (explode ? '=' : delimiter) + part(writing, member))
  return [[name, (style === 'matrix' && explode ? ';' : prefix) + parts.join(delimiter)]]
}

/** Serializes a value with the names of its members, and the indexes of its items, in brackets: `items[0][price]`. */
function nestedPairs(writing: Writing, name: string, value: unknown): ParameterPair[] {
  if (typeof value !== 'object' || value === null) return [[name, part(writing, value)]]
  const members = membersOf(value)
  if (members.some(([key]) => /[[\]]/.test(key))) writing.reject('the name of a property cannot contain a bracket')
  return members.flatMap(([key, member]) => nestedPairs(writing, `${name}[${key}]`, member))
}

const delimiterOf = ({ style, explode }: Writing): string => (explode ? explodedDelimiters : delimiters)[style] ?? ','

/** Delimiters that cannot be escaped inside a part. */
const reserved: Record<string, string> = { spaceDelimited: ' ', pipeDelimited: '|' }

/** Serializes an item, or the name or value of a property. */
function part(writing: Writing, value: unknown): string {
  const { in: location, style, explode, reject } = writing
  const text = textOf(value)
  const separator = location === 'header' ? ',' : reserved[style]
  if (separator !== undefined && text.includes(separator)) reject(`its parts cannot contain "${separator}"`)
  // encodeURIComponent does not escape a dot, which separates parts here.
  return style === 'label' && explode ? encoded(writing, text).replaceAll('.', '%2E') : encoded(writing, text)
}

function encoded({ in: location, reject }: Writing, text: string): string {
  if (location !== 'header') {
    // encodeURIComponent would throw a URIError, which does not name the parameter.
    if (loneSurrogate.test(text)) reject('cannot contain a lone surrogate')
    return encodeURIComponent(text.replace(new RegExp(loneSurrogate, 'gu'), '\ufffd'))
  }
  if (text !== text.trim()) reject('a header value cannot begin or end with white space')
  return text
}

const loneSurrogate = /\p{Surrogate}/u

/** Converts a value to text. Null is the empty text, which the service parses as null where a string is not allowed. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : String(stringifyJson(value))

/** Serializes a value to JSON in ASCII, since other characters are not portable in a header (RFC 9110 section 5.5). */
const asciiJson = (value: unknown): string =>
  String(stringifyJson(value)).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Formats a pair for a query or a Cookie header. Throws a TypeError for a name with a lone surrogate. */
export function pairText([name, value, isLone]: ParameterPair): string {
  if (loneSurrogate.test(name)) throw new TypeError(`${JSON.stringify(name)} cannot contain a lone surrogate`)
  return encodeURIComponent(name) + (isLone ? '' : `=${value}`)
}

/** Returns the text of a query or form. Throws a TypeError for a name with a lone surrogate. */
export const queryOf = (pairs: ParameterPair[]): string => pairs.map(pairText).join('&')

/** Fills the parameters of a path template. Leaves out its query, whose parameters are sent, and its fragment. */
export function expandPath(path: string, pairs: ParameterPair[]): string {
  let filled = path.replace(/[?#](?![^{}]*\}).*$/s, '')
  for (const [name, value] of pairs) filled = filled.replace(`{${name}}`, () => value)
  return filled
}
