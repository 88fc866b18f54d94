import type { NestedPlace, SerializedValue } from '../contract/routes.ts'
import { copyExactNumbers, type JsonDocument, mayBeInexact, setExactNumber } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'
import type { Validator } from '../schema/validator.ts'

/**
 * Texts of a request by name: one text in a path or header, a list in a query, form or cookies. Names are decoded. The
 * decoder of the location decodes texts, since a list must be split before.
 */
export type Texts = Record<string, string | string[] | undefined>

/** A text that does not follow its style. The message begins with a verb, to follow the name of the value. */
export class TextError extends Error {
  override readonly name = 'TextError'
}

/** The grammar of a JSON number (RFC 8259 section 6). */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Converts a text to the first of the types that it represents and its schema allows, else to a string, and sets it.
 */
export function setScalar(
  document: JsonDocument,
  holder: object,
  key: string | number,
  text: string,
  types: readonly string[],
): void {
  if (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) {
    setMember(holder, key, Number(text))
    if (mayBeInexact(text)) setExactNumber(document, holder, key, text)
  } else if (/^(true|false)$/.test(text) && types.includes('boolean')) setMember(holder, key, text === 'true')
  else if (isNull(text, types)) setMember(holder, key, null)
  else setMember(holder, key, text)
}

/** Returns whether a text represents a value of one of the types. */
export const isOfTypes = (text: string, types: readonly string[]): boolean =>
  types.includes('string') ||
  (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) ||
  (/^(true|false)$/.test(text) && types.includes('boolean')) ||
  isNull(text, types)

const isNull = (text: string, types: readonly string[]): boolean =>
  text === '' && types.includes('null') && !types.includes('string')

/** Sets a member with any name. A plain assignment to __proto__ would set the prototype. */
export function setMember(holder: object, key: string | number, value: unknown): void {
  if (key !== '__proto__') (holder as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Parses a JSON text and sets its value with its exact numbers. Throws a TextError for other texts. */
export function setJson(document: JsonDocument, holder: object, key: string | number, text: string): void {
  let parsed: JsonDocument
  try {
    parsed = parseJson(text)
  } catch (error) {
    throw new TextError(`cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
  copyExactNumbers(parsed, parsed, { document, holder, key })
  setMember(holder, key, parsed.value)
}

/**
 * Returns the texts of the items of a list whose names have brackets, as in `a[]=1` or `a[0]=1`, in the order of the
 * indexes; an empty list if there are none. Throws a TextError for other text in the brackets.
 */
export function bracketTexts(key: string, texts: Texts, isTaken: (name: string) => boolean): string[] {
  const found: { index: number; given: string[] }[] = []
  for (const name of Object.keys(texts)) {
    if (!name.startsWith(`${key}[`) || isTaken(name)) continue
    const inner = name.slice(key.length + 1, -1)
    if (!name.endsWith(']') || (inner !== '' && !indexGrammar.test(inner)))
      throw new TextError(`must be sent as ${key}=A&${key}=B, not as ${name}`)
    found.push({ index: Number(inner), given: texts[name] as string[] })
  }
  return found.sort((one, other) => one.index - other.index).flatMap(({ given }) => given)
}

/** Levels of brackets in one name. */
const maxLevels = 16

/** The texts of a value, and those of its members by the names in the next brackets. */
type Branch = { texts: string[]; members: Map<string, Branch> }

/**
 * Returns the texts of a value whose members have names in brackets, such as `items[0][price]`; undefined if a request
 * has none. Throws a TextError for brackets that are not balanced, and for too many levels. The caller limits the
 * number and the length of the names.
 */
export function branchOf(key: string, texts: Texts): Branch | undefined {
  const root: Branch = { texts: [], members: new Map() }
  const names = Object.keys(texts).filter((name) => name === key || name.startsWith(`${key}[`))
  for (const name of names) {
    let branch = root
    for (const member of namesIn(name.slice(key.length))) {
      const next: Branch = branch.members.get(member) ?? { texts: [], members: new Map() }
      branch.members.set(member, next)
      branch = next
    }
    branch.texts = texts[name] as string[]
  }
  return names.length === 0 ? undefined : root
}

function namesIn(brackets: string): string[] {
  if (brackets === '') return []
  if (!/^(?:\[[^[\]]*\])+$/.test(brackets)) throw new TextError('must have balanced brackets in its names')
  const names = brackets.slice(1, -1).split('][')
  if (names.length > maxLevels) throw new TextError(`must have at most ${maxLevels} levels of brackets in its names`)
  return names
}

/**
 * Sets the value of a branch as the package `qs` reads it, except that its schema decides: whether a name is an index,
 * which types a text may have, and that a lone text is an item where only an array is allowed. OpenAPI does not define
 * members of members (3.1 section 4.8.12.3). `place` describes the value; without one any value is allowed. A text is
 * JSON where the schema allows only objects and arrays, as Swagger UI writes them.
 */
export function setNested(
  reading: { document: JsonDocument; places: NestedPlace[]; decode(text: string): string },
  holder: object,
  key: string | number,
  branch: Branch,
  place: NestedPlace = { types: [] },
): void {
  const { document, places, decode } = reading
  const { texts, members } = branch
  if (texts.length > 0 && members.size > 0)
    throw new TextError(`must have ${key} either as one value or with members, not both`)
  const items = itemsOf(branch, place.types)
  if (items !== undefined) {
    const list: unknown[] = []
    for (const item of items) setNested(reading, list, list.length, item, places[place.items ?? -1])
    setMember(holder, key, list)
  } else if (members.size > 0) {
    const object = {}
    for (const [name, member] of members) {
      const index = Object.hasOwn(place.members ?? {}, name) ? place.members?.[name] : place.others
      setNested(reading, object, name, member, places[index ?? -1])
    }
    setMember(holder, key, object)
  } else {
    if (texts.length > 1) throw new TextError(`must have ${key} only once`)
    const text = decode(texts[0] as string)
    if (isComposed(place.types) && !isNull(text, place.types)) setJson(document, holder, key, text)
    else setScalar(document, holder, key, text, place.types)
  }
}

/** Matches an index that a double holds exactly. Items are sorted, so a large index costs no memory. */
const indexGrammar = /^(?:0|[1-9]\d{0,14})$/

/**
 * Returns the items of an array: its texts, those of empty brackets, or those with an index, in order; gaps are closed.
 * Returns undefined for a branch that is not an array.
 */
function itemsOf({ texts, members }: Branch, types: string[]): Branch[] | undefined {
  if (types.length > 0 && !types.includes('array')) return undefined
  const appended = members.get('')
  if (members.size === 0) return texts.length > 1 || isItem(texts[0] as string, types) ? leaves(texts) : undefined
  if (members.size === 1 && appended !== undefined)
    return appended.members.size > 0 ? [appended] : leaves(appended.texts)
  const names = [...members.keys()]
  if (!names.every((name) => indexGrammar.test(name))) return undefined
  return names.sort((one, other) => Number(one) - Number(other)).map((name) => members.get(name) as Branch)
}

const leaves = (texts: string[]): Branch[] => texts.map((text) => ({ texts: [text], members: new Map() }))

/** Returns whether a lone text is the only item of an array, since no other type takes it. */
const isItem = (text: string, types: string[]): boolean => isComposed(types) && !isNull(text, types)

/** Returns whether a schema allows no value that a text represents, other than null. */
const isComposed = (types: string[]): boolean =>
  types.length > 0 && types.every((type) => ['array', 'object', 'null'].includes(type))

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
function partsOf({ style, explode }: Style, text: string): string[] {
  const isExplodedPath = explode && (style === 'label' || style === 'matrix')
  return text.split(isExplodedPath ? explodedSeparators[style] : separators[style])
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
  if (style !== 'matrix' || !explode) return texts.flatMap((text) => partsOf(value, withoutStyle(value, text, decode)))
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
  const parts = partsOf(value, inner)
  if (value.explode) return parts.map(namedPart)
  if (parts.length % 2 === 1) throw new TextError('must alternate names and values')
  return Array.from({ length: parts.length / 2 }, (_, index) => parts.slice(2 * index, 2 * index + 2) as Entry)
}

/** Splits an exploded matrix text into entries. An empty value has no equals sign (RFC 6570 section 3.2.7). */
function matrixEntries(value: Style, text: string): Entry[] {
  if (!text.startsWith(';')) throw new TextError('must begin with ;')
  return partsOf(value, text.slice(1)).map(entryOf)
}

function namedPart(part: string): Entry {
  if (!part.includes('=')) throw new TextError('must consist of NAME=VALUE parts')
  return entryOf(part)
}

function entryOf(text: string): Entry {
  const end = text.indexOf('=')
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}

/** Validates a document, which it converts in place. */
export type ValidateDocument = ReturnType<Validator['request']>

/**
 * Returns a function that reads and validates values. A value that is invalid as a single value, or as a list, is read
 * as the other, if its schema allows both. Of a value that is invalid as either, it returns the first error.
 */
export function validReader<Given>(
  { values, part }: { values: SerializedValue[]; part: string },
  read: (given: Given, others?: ReadonlySet<string>) => JsonDocument,
  validate: ValidateDocument,
): (given: Given) => ReturnType<ValidateDocument> {
  const ambiguous = values
    .filter(({ kind, scalarTypes }) => kind === 'array' && scalarTypes !== undefined)
    .map(({ name }) => name)
  if (ambiguous.length === 0) return (given) => validate(read(given))
  return (given) => {
    let result = validate(read(given))
    const others = new Set<string>()
    // Each turn reads one more value, so a request costs at most one validation for each.
    while ('error' in result) {
      const { message } = result.error
      const name = ambiguous.find((one) => isAbout(message, `${part}/${one}`))
      if (name === undefined || others.has(name)) break
      others.add(name)
      const next = validate(read(given, others))
      if ('error' in next && isAbout(next.error.message, `${part}/${name}`)) break
      result = next
    }
    return result
  }
}

/** Returns whether a message is about a value or something in it. */
const isAbout = (message: string, place: string): boolean =>
  message.startsWith(place) && /^[ /]/.test(message.slice(place.length))

/** Returns the names of a value: its own, or those of its properties if they are separate. */
const namesOf = ({ kind, style, explode, key, properties = {}, scalarTypes }: SerializedValue): string[] =>
  kind === 'object' && style === 'form' && explode
    ? [...Object.keys(properties), ...(scalarTypes === undefined ? [] : [key])]
    : [key]

/** Returns the names of several values, each of which has the same single text. */
export function sharedNames(values: SerializedValue[]): string[] {
  const seen = new Set<string>()
  const prefixes = values.filter(({ kind }) => kind === 'nested').map(({ key }) => `${key}[`)
  return values
    .flatMap(namesOf)
    .filter((name) => seen.size === seen.add(name).size || prefixes.some((prefix) => name.startsWith(prefix)))
}

/** Returns texts in which the names that values share have one text, if a client has written it for each of them. */
export function withoutRepeats(texts: Texts, names: string[]): Texts {
  const own = { ...texts }
  for (const name of names) {
    const given = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (Array.isArray(given) && new Set(given).size === 1) setMember(own, name, given.slice(0, 1))
  }
  return own
}

/** Returns a function that tells whether a name is that of a value, or of a separate property of one. */
export function nameMatcher(values: SerializedValue[]): (name: string) => boolean {
  const names = new Set(values.flatMap(namesOf))
  const prefixes = values.filter(({ kind }) => kind === 'nested').map(({ key }) => `${key}[`)
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
