import type { FastifySchemaCompiler } from 'fastify'
import type { Form, Operation, SerializedParameter, SerializedValue } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { ContractError, missingBody } from '../http/errors.ts'
import type { FormTexts } from '../http/parse-body.ts'
import type { Hook } from '../http/request-guards.ts'
import { decodeText, unquotedCookie } from '../http/request-head.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { Validator } from '../schema/validator.ts'
import {
  bracketTexts,
  branchOf,
  isOfTypes,
  itemTexts,
  nameMatcher,
  propertyTexts,
  setJson,
  setMember,
  setNested,
  setScalar,
  sharedNames,
  TextError,
  type Texts,
  type ValidateDocument,
  validReader,
  withoutRepeats,
  withoutStyle,
} from './text-values.ts'

/** OpenAPI's parameter locations by Fastify's names for them. */
const locations: Record<string, SerializedParameter['in']> = { params: 'path', querystring: 'query', headers: 'header' }

/**
 * Returns Fastify's validator compiler for one operation. A compiled validator converts a body (a JsonDocument), or the
 * texts of the parameters of one location, to the value for the handler, or returns a ContractError. With `isValidated`
 * it accepts every body, because request-body.ts validates bodies.
 */
export function partValidatorCompiler(
  operation: Operation,
  validator: Validator,
  { isValidated = false }: { isValidated?: boolean } = {},
): FastifySchemaCompiler<unknown> {
  return ({ schema, httpPart = 'body' }) => {
    const location = locations[httpPart]
    if (location === undefined && isValidated) return () => true
    if (location === undefined)
      return bodyValidator(validator.request(schema as Schema, 'body'), operation.bodyRequired) as never
    return parametersValidator(operation, location, schema as Schema, validator) as never
  }
}

/**
 * Wraps the validation of a JSON body, which is absent without any bytes; Fastify then passes null. The JSON text `null`
 * stands for an optional body that is absent if its schema rejects null: clients written in Go send it for a nil
 * pointer.
 */
export const bodyValidator =
  (validate: ValidateDocument, isRequired = false) =>
  (document: JsonDocument | null | undefined): ReturnType<ValidateDocument> => {
    if (!document) return isRequired ? { error: missingBody() } : absent
    const result = validate(document)
    return 'error' in result && document.value === null && !isRequired ? absent : result
  }

const absent = { value: undefined }

/** Returns a function that reads and validates the parameters of one location, such as the query. */
export function parametersValidator(
  { parameters }: Operation,
  location: SerializedParameter['in'],
  schema: Schema,
  validator: Validator,
) {
  const values = parameters.filter((parameter) => parameter.in === location)
  const queryString = values.find((value) => value.whole !== undefined)
  const read =
    queryString === undefined
      ? textReader(values, { part: location, decode: decoders[location] })
      : queryStringReader(queryString)
  const cookies = location === 'cookie' ? cookieReader(values) : undefined
  const validate = validator.request(schema, location)
  const readValid = validReader({ values, part: location }, read, validate)
  return (texts: Texts): { value: unknown } | { error: Error } => {
    try {
      return readValid(cookies?.(texts) ?? texts)
    } catch (error) {
      // Fastify treats an exception of a validator as a failure of the service.
      return { error: error as Error }
    }
  }
}

/**
 * Returns a function that returns cookies without the quotes around their values, except around JSON, where they belong
 * to a string. Of several cookies of one name the first counts, as in RFC 6265 section 5.4, unless they are the items
 * of a list.
 */
function cookieReader(values: SerializedValue[]): (texts: Texts) => Texts {
  const keysOf = (isOne: (value: SerializedValue) => boolean) => new Set(values.filter(isOne).map(({ key }) => key))
  const lists = keysOf(({ kind, explode }) => kind === 'array' && explode)
  const json = keysOf(({ kind }) => kind === 'json')
  return (texts) => {
    const read = {}
    for (const [name, given] of Object.entries(texts) as [string, string[]][]) {
      const counted = lists.has(name) ? given : given.slice(0, 1)
      setMember(read, name, json.has(name) ? counted : counted.map(unquotedCookie))
    }
    return read
  }
}

/** Decodes a text of a parameter by location. Throws a ContractError for a text that cannot be decoded. */
const decoders: Record<SerializedParameter['in'], (text: string, value: SerializedValue) => string> = {
  // The router has already decoded parameters that are not split.
  path: (text, value) => ('segment' in value ? decoded(text, decodeURIComponent) : text),
  query: (text) => decoded(text, decodeText),
  // The delimiter of a list in a header may have spaces around it (RFC 9110 section 5.6.1).
  header: (text, { kind }) => (kind === 'array' || kind === 'object' ? text.trim() : text),
  // decodeText would turn a plus into a space, which is right for a query only.
  cookie: (text, { name }) => {
    try {
      return decodeURIComponent(text)
    } catch {
      throw new ContractError('invalid', `cookie/${name} is not percent-encoded UTF-8`)
    }
  },
}

function decoded(text: string, decode: (text: string) => string): string {
  try {
    return decode(text)
  } catch {
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}

/**
 * Returns a hook that replaces the decoded path parameters of Fastify's router by their percent-encoded texts. Lists
 * must be split before they are decoded, since a decoded delimiter may be data. Undefined if no parameter is split.
 */
export function pathSplitter(parameters: SerializedParameter[]): Hook | undefined {
  const split = parameters.flatMap(({ key, segment }) => (segment === undefined ? [] : [{ key, ...segment }]))
  if (split.length === 0) return undefined
  return (request, _reply, done) => {
    const [path = ''] = (request.raw.url as string).split('?', 1)
    const segments = path.split('/')
    const params = request.params as Record<string, string>
    for (const { key, fromEnd, prefix } of split) {
      // These are the router's segments, since it also splits at slashes before it decodes %2F.
      params[key] = withoutPrefix(segments.at(-fromEnd) as string, prefix)
    }
    done()
  }
}

/** Removes a literal prefix, any character of which may be percent-encoded in the segment. */
function withoutPrefix(segment: string, prefix: string): string {
  let at = 0
  for (const character of prefix) at += segment[at] === '%' ? 3 * Buffer.byteLength(character) : character.length
  return segment.slice(at)
}

/** The part of a request from which texts come. */
type TextSource = {
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
  /** Returns whether a value that may be a single value or a list is read as the less likely of both. */
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
  return (given, others) => {
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

/** Returns a function that reads a parameter in `querystring`, the whole query (OpenAPI 3.2 section 4.12.1). */
function queryStringReader(parameter: SerializedParameter): (texts: Texts) => JsonDocument {
  const { name, whole: format } = parameter
  // A JSON query arrives as one name without a value, which the query parser has already decoded.
  const readOne = textReader([{ ...parameter, key: 'text' }], { part: 'query', decode: (text) => text })
  if (format === 'json') {
    return (texts) => {
      const [text, ...more] = Object.keys(texts)
      if (text === undefined) return readOne({})
      if (more.length > 0 || (texts[text] as string[]).join() !== '')
        throw new ContractError('invalid', `query/${name} must be one percent-encoded string`)
      return readOne({ text })
    }
  }
  const source = { part: `query/${name}`, decode: (text: string) => decoded(text, decodeText) }
  const readForm = formReader(format as Form, source)
  return (texts) => {
    if (Object.keys(texts).length === 0) return readOne({})
    const document = readForm({ texts: texts as FormTexts['texts'], length: 0 })
    const holder = {}
    setMember(holder, name, document.value)
    return { ...document, value: holder }
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

function readScalar(value: SerializedValue, { texts, document, holder, decode }: Reading): boolean {
  const given = textsOf(value, texts)
  if (given.length === 0) return false
  setScalar(document, holder, value.name, decode(withoutStyle(value, single(given), decode)), value.types)
  return true
}

function readArray(
  value: SerializedValue,
  { texts, document, holder, isTaken, isOpen, isOther, decode }: Reading,
): boolean {
  const { name, key, types, scalarTypes } = value
  const given = textsOf(value, texts)
  const inBrackets = hasBrackets(value) && !isOpen ? bracketTexts(key, texts, isTaken) : []
  if (given.length > 0 && inBrackets.length > 0) throw new TextError(`must be named ${key} or ${key}[], not both`)
  const parts = given.length > 0 ? itemTexts(value, given, decode) : inBrackets
  if (given.length === 0 && parts.length === 0) return false
  if (scalarTypes !== undefined && given.length === 1) {
    // One part is rather a single value, and several are rather a list; `isOther` asks for the other reading.
    const isSingle = (parts.length === 1) !== isOther(name)
    const text = isSingle ? decode(withoutStyle(value, given[0] as string, decode)) : ''
    if (isSingle && isOfTypes(text, scalarTypes)) {
      setScalar(document, holder, name, text, scalarTypes)
      return true
    }
  }
  const items: unknown[] = []
  for (const text of value.isPlain ? plainParts(parts) : parts)
    setScalar(document, items, items.length, decode(text), types)
  setMember(holder, name, items)
  return true
}

/** Styles of values whose names some clients write with brackets. */
const hasBrackets = ({ style }: SerializedValue): boolean =>
  style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited'

/** Splits the items of a plain list again: a comma separates them however it is encoded, and in every style. */
const plainParts = (parts: string[]): string[] =>
  parts.length === 1 && parts[0] === '' ? [] : parts.flatMap((part) => part.split(/,|%2C/i))

function readObject(value: SerializedValue, reading: Reading): boolean {
  const { texts, document, holder, isTaken, isOpen, decode } = reading
  const { key, style, explode, types, properties = {}, acceptsAnyName, credentials = [], scalarTypes = [] } = value
  const bracketed =
    hasBrackets(value) && !isOpen && Object.keys(texts).find((name) => name.startsWith(`${key}[`) && !isTaken(name))
  if (bracketed)
    throw new TextError(`must be sent as ${explode ? 'NAME=VALUE' : `${key}=NAME,VALUE`}, not as ${bracketed}`)
  const typesOf = (name: string) => (Object.hasOwn(properties, name) ? (properties[name] as string[]) : types)
  const members = {}
  const add = (name: string, text: string) => {
    if (Object.hasOwn(members, name)) throw new TextError(`must have ${name} only once`)
    setScalar(document, members, name, decode(text), typesOf(name))
  }
  if (style === 'form' && explode) {
    const isOwn = (name: string) => Object.hasOwn(properties, name) || !(isTaken(name) || credentials.includes(name))
    const accepted = acceptsAnyName ? Object.keys(texts).filter(isOwn) : Object.keys(properties)
    const names = accepted.filter((name) => Object.hasOwn(texts, name))
    const single = scalarTypes.length > 0 ? textsOf(value, texts) : []
    if (names.length === 0) return single.length > 0 && readScalar({ ...value, types: scalarTypes }, reading)
    if (single.length > 0) throw new TextError('must be either one value or an object, not both')
    for (const name of names) {
      for (const text of texts[name] as string[]) add(name, text)
    }
  } else {
    const given = textsOf(value, texts)
    if (given.length === 0) return false
    for (const [name, text] of propertyTexts(value, single(given), decode)) add(decode(name), text)
  }
  setMember(holder, value.name, members)
  return true
}

/** Reads a value whose members have names in brackets. An object may also be a JSON text. */
function readNested(
  { name, key, places = [] }: SerializedValue,
  { texts, document, holder, decode }: Reading,
): boolean {
  const branch = branchOf(key, texts)
  if (branch === undefined) return false
  setNested({ document, places, decode }, holder, name, branch, places[0])
  return true
}

/** Reads a JSON text as strictly as a JSON body, and keeps its inexact numbers exactly. */
function readJson(value: SerializedValue, reading: Reading): boolean {
  const given = textsOf(value, reading.texts)
  if (given.length === 0) return false
  setJson(reading.document, reading.holder, value.name, reading.decode(single(given)))
  return true
}

function textsOf({ key }: SerializedValue, texts: Texts): string[] {
  const given = Object.hasOwn(texts, key) ? texts[key] : undefined
  if (given === undefined) return []
  return typeof given === 'string' ? [given] : given
}

function single(texts: string[]): string {
  if (texts.length > 1) throw new TextError('must be given once')
  return texts[0] as string
}

/**
 * Returns a function that converts the texts of a form to typed values. Like `parseJson` it keeps inexact numbers
 * exactly. It throws a ContractError for a text that does not follow the style of its field.
 */
export function formReader(
  { fields, otherTypes }: Form,
  source: { part: string; decode(text: string): string },
): (form: FormTexts, others?: ReadonlySet<string>) => JsonDocument {
  const read = textReader(fields, source)
  const isTaken = nameMatcher(fields)
  const lists = fields.filter((field) => field.kind === 'array' && hasBrackets(field)).map(({ key }) => `${key}[`)
  const isNamed = (name: string) => isTaken(name) || lists.some((prefix) => name.startsWith(prefix))
  const acceptsAnyName = fields.some((field) => field.acceptsAnyName)
  return ({ texts, length }, others) => {
    const document = read(texts, others)
    document.length = length
    for (const [name, given] of Object.entries(texts)) {
      if (!acceptsAnyName && !isNamed(name)) setUndeclared(document, name, given.map(source.decode), otherTypes)
    }
    return document
  }
}

/** Sets a property that the schema does not name; validation decides whether it is allowed. */
function setUndeclared(document: JsonDocument, name: string, [first = '', ...more]: string[], types: string[]): void {
  const holder = document.value as object
  if (more.length === 0) setScalar(document, holder, name, first, types)
  else setMember(holder, name, [first, ...more])
}
