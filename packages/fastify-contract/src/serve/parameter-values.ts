import { ContractError } from '../http/errors.ts'
import { copyDigits, type JsonDocument } from '../json/json-document.ts'
import type { JsonError } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { itemTexts, propertyTexts, separateTexts, TextError, withoutStyle } from './parameter-styles.ts'
import type { TextValue } from './routes.ts'
import { setMember, setScalar } from './scalar-values.ts'

/** The encoded texts of a request by name: one text in a path or header, a list in a query, form or cookies. */
export type Texts = Record<string, string | string[] | undefined>

/** The part of a request from which texts come. */
export type TextSource = {
  /** The name of the part of the request in messages. */
  part: string
  /** Decodes a text of a value. Throws a ContractError for a text that cannot be decoded. */
  decode(text: string, value: TextValue): string
}

type Reading = { texts: Texts; document: JsonDocument; holder: object; decode(text: string): string }

/** Reads a value and sets it in the holder. Returns false if the request has none. */
type Read = (value: TextValue, reading: Reading) => boolean

/**
 * Returns a function that reads values from texts by name. Like `parseJson` it keeps the digits of inexact numbers; the
 * document's length is that of the texts. It throws a ContractError for a text that does not follow its style or cannot
 * be decoded. It runs in linear time. The caller limits the length of the texts, and thereby the number of items.
 */
export function textReader(values: TextValue[], source: TextSource): (texts: Texts) => JsonDocument {
  const defaults = values.map(defaultSetter)
  return (texts) => {
    const holder = {}
    const document = { value: holder, length: 0 }
    for (const [index, value] of values.entries()) {
      const decode = (text: string): string => {
        document.length += text.length
        return source.decode(text, value)
      }
      try {
        if (!readers[value.kind](value, { texts, document, holder, decode })) defaults[index]?.(holder)
      } catch (error) {
        if (!(error instanceof TextError)) throw error
        throw new ContractError('invalid', `${source.part}/${value.name} ${error.message}`)
      }
    }
    return document
  }
}

/** Returns a function that sets a copy of the default: each request needs its own, since its handler may change it. */
function defaultSetter({ name, default: value }: TextValue): ((holder: object) => void) | undefined {
  if (value === undefined) return undefined
  const text = JSON.stringify(value)
  return (holder) => setMember(holder, name, JSON.parse(text))
}

const readers: Record<TextValue['kind'], Read> = {
  scalar: readScalar,
  array: readArray,
  object: readObject,
  json: readJson,
}

function readScalar(value: TextValue, { texts, document, holder, decode }: Reading): boolean {
  const given = textsOf(value, texts)
  if (given.length === 0) return false
  setScalar(document, holder, value.name, decode(withoutStyle(value, single(given), decode)), value.types)
  return true
}

function readArray(value: TextValue, { texts, document, holder, decode }: Reading): boolean {
  const given = textsOf(value, texts)
  if (given.length === 0) return false
  const items: unknown[] = []
  for (const [index, text] of itemTexts(value, given, decode).entries()) {
    setScalar(document, items, index, decode(text), value.types)
  }
  setMember(holder, value.name, items)
  return true
}

function readObject(value: TextValue, { texts, document, holder, decode }: Reading): boolean {
  const { name: ownName, style, explode, types, properties = {} } = value
  const members = {}
  const add = (name: string, text: string) => {
    if (Object.hasOwn(members, name)) throw new TextError(`must have ${name} only once`)
    setScalar(
      document,
      members,
      name,
      decode(text),
      Object.hasOwn(properties, name) ? (properties[name] as string[]) : types,
    )
  }
  if (style === 'deepObject' || (style === 'form' && explode)) {
    const given = separateTexts(value, texts)
    if (given.length === 0) return false
    for (const [name, all] of given) for (const text of all) add(name, text)
  } else {
    const given = textsOf(value, texts)
    if (given.length === 0) return false
    for (const [name, text] of propertyTexts(value, single(given), decode)) add(decode(name), text)
  }
  setMember(holder, ownName, members)
  return true
}

/** Reads a JSON text as strictly as a JSON body, and keeps the digits of its inexact numbers. */
function readJson(value: TextValue, { texts, document, holder, decode }: Reading): boolean {
  const given = textsOf(value, texts)
  if (given.length === 0) return false
  const parsed = parsedJson(decode(single(given)))
  copyDigits(parsed, parsed, document, holder, value.name)
  setMember(holder, value.name, parsed.value)
  return true
}

function parsedJson(text: string): JsonDocument {
  try {
    return parseJson(text)
  } catch (error) {
    throw new TextError(`is not JSON: ${(error as JsonError).message}`)
  }
}

function textsOf({ key }: TextValue, texts: Texts): string[] {
  const given = Object.hasOwn(texts, key) ? texts[key] : undefined
  if (given === undefined) return []
  return typeof given === 'string' ? [given] : given
}

function single(texts: string[]): string {
  if (texts.length > 1) throw new TextError('must be given once')
  return texts[0] as string
}
