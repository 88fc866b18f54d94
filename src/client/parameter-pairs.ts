import { stringifyJson } from '../json/stringify-json.ts'
import type { ParameterStyle } from './call-styles.ts'

export type ParameterPair = [name: string, value: string]

export type Place = 'path' | 'query' | 'header' | 'cookie'

/** What stands between the parts of one value, unless it is a comma (OpenAPI 3.1 section 4.8.12.3). */
const delimiters: Record<string, string> = { spaceDelimited: '%20', pipeDelimited: '%7C' }
const explodedDelimiters: Record<string, string> = { label: '.', matrix: ';' }

type Writing = Required<Pick<ParameterStyle, 'style' | 'explode'>> & {
  in: Place
  name: string
  /** What its style puts before a value. */
  lead: string
  refuse: (problem: string) => void
}

/**
 * Returns the names and values by which a parameter is sent, as the service reads them: no pair for an empty list. An
 * item or a property that is undefined is left out. The values are percent-encoded, except in a header. Calls `refuse`
 * for a value that its style cannot hold.
 */
export function parameterPairs(
  { in: place, name, isJson, ...given }: ParameterStyle & { in: Place; name: string },
  value: unknown,
  refuse: (problem: string) => void = () => {},
): ParameterPair[] {
  const { style = place === 'path' || place === 'header' ? 'simple' : 'form' } = given
  const { explode = style === 'form' || style === 'deepObject' } = given
  if (isJson) return [[name, place === 'header' ? asciiJson(value) : encodeURIComponent(String(stringifyJson(value)))]]
  const lead = { label: '.', matrix: `;${encodeURIComponent(name)}=` }[style] ?? ''
  const writing = { in: place, name, style, explode, lead, refuse }
  if (Array.isArray(value)) return listPairs(writing, value)
  if (typeof value === 'object' && value !== null) return objectPairs(writing, value)
  return [[name, lead + encoded(writing, textOf(value))]]
}

function listPairs(writing: Writing, list: unknown[]): ParameterPair[] {
  const { in: place, name, style, explode, lead, refuse } = writing
  const items = list.filter((item) => item !== undefined).map((item) => part(writing, item))
  if (style === 'form' && explode) return items.map((item) => [name, item])
  if (items.length > 0) return [[name, lead + items.join(style === 'matrix' && explode ? lead : delimiterOf(writing))]]
  if (place === 'path') refuse('a path cannot hold an empty list')
  return []
}

function objectPairs(writing: Writing, object: object): ParameterPair[] {
  const { in: place, name, style, explode, lead, refuse } = writing
  const entries = Object.entries(object).filter(([, member]) => member !== undefined)
  if (style === 'form' && explode) return entries.map(([key, member]) => [key, part(writing, member)])
  if (style === 'deepObject') {
    if (entries.some(([key]) => /[[\]]/.test(key))) refuse('the name of a property cannot hold a bracket')
    return entries.map(([key, member]) => [`${name}[${key}]`, part(writing, member)])
  }
  if (entries.length === 0 && place === 'path') refuse('a path cannot hold an empty object')
  if (explode && place === 'header' && entries.some(([key]) => key.includes('='))) {
    refuse('the name of a property cannot hold "="')
  }
  const parts = entries.map(
    ([key, member]) => `${part(writing, key)}${explode ? '=' : delimiterOf(writing)}${part(writing, member)}`,
  )
  return [[name, (style === 'matrix' && explode ? ';' : lead) + parts.join(delimiterOf(writing))]]
}

const delimiterOf = ({ style, explode }: Writing): string => (explode ? explodedDelimiters : delimiters)[style] ?? ','

/** Characters that separate parts, and for which there is no escape. */
const reserved: Record<string, string> = { spaceDelimited: ' ', pipeDelimited: '|' }

/** Writes an item, or the name or value of a property. */
function part(writing: Writing, value: unknown): string {
  const { in: place, style, explode, refuse } = writing
  const text = textOf(value)
  const separator = place === 'header' ? ',' : reserved[style]
  if (separator !== undefined && text.includes(separator)) refuse(`no part of it can hold "${separator}"`)
  // A dot needs no escape in a URL, but here it separates parts.
  return style === 'label' && explode ? encoded(writing, text).replaceAll('.', '%2E') : encoded(writing, text)
}

function encoded({ in: place, refuse }: Writing, text: string): string {
  if (place !== 'header') return encodeURIComponent(text)
  if (text !== text.trim()) refuse('a header loses the spaces around a text')
  return text
}

/** The service reads an empty text as null where the schema has no strings. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : String(stringifyJson(value))

/** Headers have no other characters than those of ASCII that all agree on (RFC 9110 section 5.5). */
const asciiJson = (value: unknown): string =>
  String(stringifyJson(value)).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns a pair as it is written in a query or among cookies. */
export const pairText = ([name, value]: ParameterPair): string => `${encodeURIComponent(name)}=${value}`

/** Returns a path of a document with the values of its parameters. */
export const filledPath = (path: string, pairs: ParameterPair[]): string =>
  pairs.reduce((filled, [name, value]) => filled.replace(`{${name}}`, () => value), path)
