import type { SerializedValue } from '../contract/routes.ts'
import { TextError } from './text-values.ts'

/** The serialization style of a value (OpenAPI 3.1 section 4.8.12.3). */
type Style = Pick<SerializedValue, 'name' | 'style' | 'explode'>

/** A name and the text of its value, both as they were sent. */
type Entry = [name: string, text: string]

/** The separators of the parts of one text, by style. Exploded path parameters have other separators. */
const separators = {
  simple: ',',
  form: ',',
  label: ',',
  matrix: ',',
  spaceDelimited: /%20|\+/,
  pipeDelimited: /%7C|\|/i,
  deepObject: '', // Never split: each property has a text of its own.
} as const
const explodedSeparators = { label: '.', matrix: ';' } as const

/** Splits a text into its parts: the items of an array, or the names and values of an object. */
function splitText({ style, explode }: Style, text: string): string[] {
  const isExplodedPath = explode && (style === 'label' || style === 'matrix')
  return text.split(isExplodedPath ? explodedSeparators[style] : separators[style])
}

/**
 * Returns a text of an object with commas if a style separates names from values by commas and the text has none: it would
 * be a name without a value. Some clients encode the commas, and write the dots that OpenAPI 3.0.3 and 3.1.0 show for the
 * style label.
 */
export function withCommas({ style, explode }: Style, text: string): string {
  if (explode || separators[style] !== ',' || text.includes(',')) return text
  const separated = text.replace(/%2C/gi, ',')
  return style === 'label' && separated === text ? `.${text.slice(1).replaceAll('.', ',')}` : separated
}

/** Removes the prefix of a style from a text. Throws a TextError if the prefix is missing. */
export function withoutStyle({ style, name }: Style, text: string, decode: (text: string) => string): string {
  if (style === 'label') {
    if (!text.startsWith('.')) throw new TextError('must begin with .')
    return text.slice(1)
  }
  if (style !== 'matrix') return text
  const [given, value] = entryOf(text)
  if (!text.startsWith(';') || decode(given.slice(1)) !== name) throw new TextError(`must begin with ;${name}=`)
  return value
}

/** Returns the texts of the items of an array, as they were sent. */
export function itemTexts(value: Style, texts: string[], decode: (text: string) => string): string[] {
  const { style, explode, name } = value
  if (style === 'form' && explode) return texts
  if (style !== 'matrix' || !explode)
    return texts.flatMap((text) => splitText(value, withoutStyle(value, text, decode)))
  return texts.flatMap((text) => {
    const items = matrixEntries(value, text)
    if (items.some(([given]) => decode(given) !== name)) throw new TextError(`must repeat ;${name}= before each item`)
    return items.map(([, item]) => item)
  })
}

/** Returns the names and texts of the properties of an object in one text, as they were sent. */
export function propertyTexts(value: Style, text: string, decode: (text: string) => string): Entry[] {
  if (value.style === 'matrix' && value.explode) return matrixEntries(value, text)
  const inner = withoutStyle(value, text, decode)
  if (inner === '') return []
  const parts = splitText(value, inner)
  if (value.explode) return parts.map(namedPart)
  if (parts.length % 2 === 1) throw new TextError('must alternate names and values')
  return Array.from({ length: parts.length / 2 }, (_, index) => parts.slice(2 * index, 2 * index + 2) as Entry)
}

/** Splits an exploded matrix text into entries. An empty value has no equals sign (RFC 6570 section 3.2.7). */
function matrixEntries(value: Style, text: string): Entry[] {
  if (!text.startsWith(';')) throw new TextError('must begin with ;')
  return splitText(value, text.slice(1)).map(entryOf)
}

function namedPart(part: string): Entry {
  if (!part.includes('=')) throw new TextError('must consist of NAME=VALUE parts')
  return entryOf(part)
}

function entryOf(text: string): Entry {
  const end = text.indexOf('=')
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}
