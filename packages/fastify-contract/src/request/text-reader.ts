import { ContractError } from '../contract/errors.ts'
import type { SerializedParameter, SerializedValue } from '../contract/routes.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { ValidatePart } from '../schema/validator.ts'
import { bracketTexts, branchOf, setNested } from './bracket-names.ts'
import { itemTexts, propertyTexts, withCommas, withoutStyle } from './text-styles.ts'
import { isJson, isOfTypes, setJson, setMember, setScalar, TextError, type Texts, timeText } from './text-values.ts'

/** The part of a request from which texts come. */
export type TextSource = {
  /** The name of the part of the request in messages. */
  part: string
  /** Decodes a text of a value. Throws a ContractError for a text that cannot be decoded. */
  decode(text: string, value: SerializedValue): string
}

/** The texts to read, and the object of the document in which the values are set. */
type Reading = {
  texts: Texts
  document: JsonDocument
  holder: object
  /** Returns whether a name belongs to one of the values. */
  isTaken(name: string): boolean
  /** Whether one of the values accepts every name that no other value has. */
  isOpen: boolean
  /** Returns whether a value that may be read in two ways is read in the less likely one. */
  isOther(name: string): boolean
  decode(text: string): string
}

/** Reads a value and sets it in the holder. Returns false if the request has none. */
type Read = (value: SerializedValue, reading: Reading) => boolean

/**
 * Returns a function that reads values from texts by name. Like `parseJson` it keeps inexact numbers exactly. The
 * length of the JsonDocument is the total length of the texts. It throws a ContractError for a text that does not
 * follow its style or cannot be decoded. It runs in linear time. The caller limits the length of the texts, and thereby
 * the number of items.
 */
export function textReader(
  values: SerializedValue[],
  source: TextSource,
): (texts: Texts, others?: ReadonlySet<string>) => JsonDocument {
  const defaults = values.map(defaultSetter)
  const isTaken = nameMatcher(values)
  const isOpen = values.some(({ acceptsAnyName }) => acceptsAnyName)
  const shared = sharedNames(values)
  return readTexts

  function readTexts(given: Texts, others?: ReadonlySet<string>): JsonDocument {
    const texts = shared.length === 0 ? given : withoutRepeats(given, shared)
    const isOther = (name: string) => others?.has(name) === true
    const holder = {}
    const document = { value: holder, length: 0 }
    for (const [index, value] of values.entries()) {
      const decode = (text: string): string => {
        document.length += text.length
        return source.decode(text, value)
      }
      try {
        const reading = { texts, document, holder, isTaken, isOpen, isOther, decode }
        if (!readers[value.kind](value, reading)) defaults[index]?.(reading)
      } catch (error) {
        if (!(error instanceof TextError)) throw error
        throw new ContractError('invalid', `${source.part}/${value.name} ${error.message}`)
      }
    }
    return document
  }
}

/** Returns a function that sets a copy of the default: each request needs its own, since its handler may change it. */
function defaultSetter({ name, default: text }: SerializedValue): ((reading: Reading) => void) | undefined {
  return text === undefined ? undefined : ({ document, holder }) => setJson(document, holder, name, text)
}

const readers: Record<SerializedValue['kind'], Read> = {
  scalar: readScalar,
  array: readArray,
  object: readObject,
  nested: readNested,
  json: readJson,
}

function readScalar(value: SerializedValue, { texts, document, holder, isOther, decode }: Reading): boolean {
  const { name, types } = value
  const given = givenTexts(value, texts)
  if (given.length === 0) return false
  const decoded = decode(withoutStyle(value, single(given), decode))
  const text = value.isTime ? timeText(decoded) : decoded
  setScalar(document, holder, name, text, isOther(name) ? ['string'] : types)
  return true
}

function readArray(
  value: SerializedValue,
  { texts, document, holder, isTaken, isOpen, isOther, decode }: Reading,
): boolean {
  const { name, key, types, scalarTypes } = value
  const given = givenTexts(value, texts)
  const inBrackets = hasBrackets(value) && !isOpen ? bracketTexts(key, texts, isTaken) : []
  if (given.length > 0 && inBrackets.length > 0) throw new TextError(`must be named ${key} or ${key}[], not both`)
  const parts = given.length > 0 ? itemTexts(value, given, decode) : inBrackets
  if (given.length === 0 && parts.length === 0) return false
  if (scalarTypes !== undefined && given.length === 1) {
    // One part is rather a single value, and several are rather a list; `isOther` asks for the other reading.
    const isSingle = (parts.length === 1) !== isOther(name)
    const text = isSingle ? decode(withoutStyle(value, given[0] as string, decode)) : ''
    // A list of strings may have the item `null`.
    const isItem = text === 'null' && types.includes('string')
    if (isSingle && !isItem && isOfTypes(text, scalarTypes)) {
      setScalar(document, holder, name, text, scalarTypes)
      return true
    }
  }
  const items: unknown[] = []
  for (const text of value.isPlain ? plainParts(parts) : parts)
    setScalar(document, items, items.length, value.isTime ? timeText(decode(text)) : decode(text), types)
  setMember(holder, name, items)
  return true
}

/** Styles of values whose names some clients write with brackets. */
export const hasBrackets = ({ style }: SerializedValue): boolean =>
  style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited'

/** Splits the items of a plain list again: a comma separates them however it is encoded, and in every style. */
const plainParts = (parts: string[]): string[] =>
  parts.length === 1 && parts[0] === '' ? [] : parts.flatMap((part) => part.split(/,|%2C/i))

const isIn = (value: SerializedValue, location: string): boolean => (value as SerializedParameter).in === location

function readObject(value: SerializedValue, reading: Reading): boolean {
  if (isWrittenNested(value, reading)) return readNested(value, reading)
  if (hasSeparateProperties(value)) return readSeparateProperties(value, reading)
  const given = givenTexts(value, reading.texts)
  if (given.length === 0) return false
  const { properties = {} } = value
  const { decode } = reading
  const text = withCommas(value, single(given))
  const members = {}
  for (const [encoded, property] of propertyTexts(value, text, decode)) {
    const name = decode(encoded)
    // JavaScript makes `[object Object]` of an object.
    if ((text !== given[0] || name === '[object') && !Object.hasOwn(properties, name))
      throw new TextError('must alternate names and values')
    setProperty(value, reading, members, name, property)
  }
  setMember(reading.holder, value.name, members)
  return true
}

/**
 * Returns whether a client has written an object as a nested value, although it has another style: with names in brackets
 * or with dots, or as one JSON text. Throws a TextError if the request also has texts of the style.
 */
function isWrittenNested(value: SerializedValue, reading: Reading): boolean {
  const { key, explode, places } = value
  const { texts, isOpen } = reading
  if (isOpen) return false
  if (!hasBrackets(value)) return isJsonText(value, reading)
  const member = Object.keys(texts).find((name) => isMemberName(value, name, reading))
  if (member === undefined) return isJsonText(value, reading)
  const isMixed = [key, `${key}[]`, ...namesOf(value)].some((name) => Object.hasOwn(texts, name))
  if (places !== undefined && !isMixed) return true
  throw new TextError(`must be sent as ${explode ? 'NAME=VALUE' : `${key}=NAME,VALUE`}, not as ${member}`)
}

/**
 * Returns whether the only text of an object is a JSON object, which no style writes. A text without a delimiter follows no
 * style, unless the style writes NAME=VALUE, so it is JSON even if it is malformed.
 */
function isJsonText(value: SerializedValue, { texts, decode }: Reading): boolean {
  const { key, explode, places, scalarTypes } = value
  const [text = '', ...more] = givenTexts(value, texts)
  if (places === undefined || scalarTypes !== undefined || more.length > 0 || !/^(?:\{|%7B)/i.test(text)) return false
  // The name of a parameter whose properties have names of their own is another name beside these.
  if (hasSeparateProperties(value)) return namesOf(value).every((name) => name !== key && !Object.hasOwn(texts, name))
  return (!explode && !/[,|+]|%(?:20|7C)/i.test(text)) || isJson(decode(text))
}

/** Reads an object each of whose properties has a text of its own. */
function readSeparateProperties(value: SerializedValue, reading: Reading): boolean {
  const { texts, isTaken } = reading
  const { properties = {}, acceptsAnyName, credentials = [], scalarTypes = [] } = value
  const isOwn = (name: string) => Object.hasOwn(properties, name) || !(isTaken(name) || credentials.includes(name))
  const accepted = acceptsAnyName ? Object.keys(texts).filter(isOwn) : Object.keys(properties)
  const names = accepted.filter((name) => Object.hasOwn(texts, name))
  const whole = scalarTypes.length > 0 ? givenTexts(value, texts) : []
  if (names.length === 0) return whole.length > 0 && readScalar({ ...value, types: scalarTypes }, reading)
  if (whole.length > 0) throw new TextError('must be either one value or an object, not both')
  const members = {}
  for (const name of names) {
    for (const text of texts[name] as string[]) setProperty(value, reading, members, name, text)
  }
  setMember(reading.holder, value.name, members)
  return true
}

function setProperty(
  { types, properties = {} }: SerializedValue,
  { document, decode }: Reading,
  members: object,
  name: string,
  text: string,
): void {
  if (Object.hasOwn(members, name)) throw new TextError(`must have ${name} only once`)
  const own = Object.hasOwn(properties, name) ? properties[name] : undefined
  setScalar(document, members, name, decode(text), own ?? types)
}

/** Reads a value whose members have names in brackets. An object may also be a JSON text. */
function readNested(value: SerializedValue, reading: Reading): boolean {
  const { name, key, places = [] } = value
  const { texts, document, holder, decode } = reading
  const branch = branchOf(key, texts, (given) => isMemberName(value, given, reading))
  if (branch === undefined) return false
  setNested({ document, places, decode }, holder, name, branch, places[0])
  return true
}

/**
 * Returns whether a name is that of a member of a value. A name in brackets may be that of another value, unless the style
 * of this one has such names.
 */
const isMemberName = (value: SerializedValue, name: string, reading: Reading): boolean =>
  (name.startsWith(`${value.key}[`) && (value.kind === 'nested' || !reading.isTaken(name))) ||
  isDottedName(value, name, reading)

/**
 * Returns whether a client has written a name with a dot instead of brackets, as in `filter.name`, for a property that the
 * schema names. Other names with dots are undeclared parameters.
 */
function isDottedName(value: SerializedValue, name: string, { isTaken, isOpen }: Reading): boolean {
  const { key, places = [] } = value
  if (isOpen || !isIn(value, 'query') || !name.startsWith(`${key}.`) || name.includes('[') || isTaken(name))
    return false
  const [member = ''] = name.slice(key.length + 1).split('.')
  return Object.hasOwn(places[0]?.members ?? {}, member)
}

/** Reads a JSON text as strictly as a JSON body, and keeps its inexact numbers exactly. */
function readJson(value: SerializedValue, reading: Reading): boolean {
  const given = givenTexts(value, reading.texts)
  if (given.length > 1) throw new TextError('must be given once')
  if (value.places !== undefined && !reading.isOpen) return readNested(value, reading)
  if (given.length === 0) return false
  setJson(reading.document, reading.holder, value.name, reading.decode(single(given)))
  return true
}

function givenTexts({ key }: SerializedValue, texts: Texts): string[] {
  const given = Object.hasOwn(texts, key) ? texts[key] : undefined
  if (given === undefined) return []
  return typeof given === 'string' ? [given] : given
}

function single(texts: string[]): string {
  if (texts.length > 1) throw new TextError('must be given once')
  return texts[0] as string
}

/** Returns whether each property of an object has a name of its own in the request. */
const hasSeparateProperties = ({ kind, style, explode }: SerializedValue): boolean =>
  kind === 'object' && style === 'form' && explode

/** Returns the names of a value: its own, or those of its properties if they are separate. */
function namesOf(value: SerializedValue): string[] {
  const { key, properties = {}, scalarTypes } = value
  if (!hasSeparateProperties(value)) return [key]
  return [...Object.keys(properties), ...(scalarTypes === undefined ? [] : [key])]
}

/** Returns a function that tells whether a name is that of a member of a nested value. */
function nestedMatcher(values: SerializedValue[]): (name: string) => boolean {
  const prefixes: string[] = []
  for (const { kind, key } of values) if (kind === 'nested') prefixes.push(`${key}[`)
  return (name) => prefixes.some((prefix) => name.startsWith(prefix))
}

/** Returns the names of several values, each of which has the same single text. */
function sharedNames(values: SerializedValue[]): string[] {
  const isNested = nestedMatcher(values)
  const seen = new Set<string>()
  const shared: string[] = []
  for (const name of values.flatMap(namesOf)) {
    if (seen.has(name) || isNested(name)) shared.push(name)
    seen.add(name)
  }
  return shared
}

/** Returns texts in which the names that values share have one text, if a client has written it for each of them. */
function withoutRepeats(texts: Texts, names: string[]): Texts {
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
  const isNested = nestedMatcher(values)
  return (name) => names.has(name) || isNested(name)
}

/**
 * Returns a function that reads and validates values. A value that is invalid as a single value, or as a list, is read
 * as the other, if its schema allows both; one that is invalid as a number, a boolean or null is read as a string. Of a
 * value that is invalid as either, it returns the first error.
 */
export function validReader<Given>(
  { values, part }: { values: SerializedValue[]; part: string },
  read: (given: Given, others?: ReadonlySet<string>) => JsonDocument,
  validate: ValidatePart,
): (given: Given) => ReturnType<ValidatePart> {
  const ambiguous = values.filter(isAmbiguous).map(({ name }) => name)
  return ambiguous.length === 0 ? (given) => validate(read(given)) : readAmbiguous

  function readAmbiguous(given: Given): ReturnType<ValidatePart> {
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

/** Returns whether a value may be a single value or a list, or a text that looks like another type may be a string. */
const isAmbiguous = ({ kind, types, scalarTypes }: SerializedValue): boolean =>
  kind === 'array' ? scalarTypes !== undefined : kind === 'scalar' && types.length > 1 && types.includes('string')

/** Returns whether a message is about a value or something in it. */
const isAbout = (message: string, place: string): boolean =>
  message.startsWith(place) && /^[ /]/.test(message.slice(place.length))
