import { isNumber } from '../../document/schemas.ts'
import { isNode } from '../../document/walk-document.ts'
import { styles } from '../assumed-styles.ts'

/** The type of a field that holds neither schemas nor other OpenAPI objects. */
export type FieldType = keyof typeof fieldTypes

/** What `mend` returns for a member that is to be left out. */
export const omitted = Symbol('omitted')

/** Returns the right value, `omitted`, or undefined. `writtenText` returns a member of the value as its file writes it. */
type Mend = (value: unknown, writtenText: (name: string) => string | undefined) => unknown

/**
 * A field type: its description in messages, the function that checks a value, and the one that mends a wrong value whose
 * meaning is certain: it returns `undefined` if it is not.
 */
type Field = { expected: string; isValid: (value: unknown) => boolean; mend: Mend }

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  isText(value) || typeof value === 'boolean' || isFiniteNumber(value)

const isFiniteNumber = (value: unknown): value is number | bigint => isNumber(value) && Number.isFinite(Number(value))

/** Returns the number of a text if it is in the range; a number out of the range limits nothing. */
const asLimit = (isInRange: (value: unknown) => boolean): Mend =>
  function mendNumber(value) {
    const number = isNumber(value) ? value : asNumber(value)
    return number === undefined || isInRange(number) ? number : omitted
  }

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0
const isMapOfTexts = (value: unknown): boolean => isNode(value) && Object.values(value).every(isTexts)
const never: Mend = () => undefined
const isCount = (value: unknown): boolean => isFiniteNumber(value) && value >= 0
const isDivisor = (value: unknown): boolean => isFiniteNumber(value) && value > 0

const asText = (value: unknown) => (isScalar(value) ? String(value) : undefined)

/** Returns the number that a text is written as, if a double holds it exactly. */
export function asNumber(value: unknown): number | undefined {
  if (!isText(value) || !/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/.test(value)) return undefined
  const number = Number(value)
  return String(number) === value.replace(/\.?0+$/, '') || String(number) === value ? number : undefined
}

/** The words for true and false in YAML 1.1, which YAML 1.2 takes for texts. */
const flags = new Map([
  ...['true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', 'no', 'off'].map((word) => [word, false] as const),
])

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

const isType = (value: unknown): boolean => types.includes(value as string)

/** Names of types in programming languages and in Swagger 2.0, and formats of strings. */
const synonyms = {
  integer: ['int', 'int32', 'long'],
  number: ['float', 'double', 'decimal'],
  boolean: ['bool'],
  array: ['list'],
  object: ['dict', 'map'],
  string: ['file', 'date', 'datetime', 'date-time', 'uuid', 'uri', 'url', 'email'],
}

const typeSynonyms = new Map<string, string>()
for (const [type, names] of Object.entries(synonyms)) for (const name of names) typeSynonyms.set(name, type)

function asType(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all = value.map((one) => (one === null ? 'null' : asType(one)))
    return all.length === 0 || all.includes(omitted) ? omitted : all.every(isText) ? all : undefined
  }
  const name = plain(value)
  if (name === 'any') return omitted
  return types.includes(name) ? name : typeSynonyms.get(name)
}

const schemeTypes = ['apiKey', 'http', 'mutualTLS', 'oauth2', 'openIdConnect']

const locations = ['path', 'query', 'querystring', 'header', 'cookie']

/** Returns the type of a field with one of some words, which may be in another case. */
const wordType = (expected: string, words: string[]): Field => ({
  expected,
  isValid: (value) => words.includes(value as string),
  mend: (value) => wordLike(value, words),
})

/** Returns a value for a comparison without case. */
const plain = (value: unknown): string => String(value).trim().toLowerCase()

/** Returns the word that a value is in another case. */
const wordLike = (value: unknown, words: string[]): string | undefined =>
  words.find((one) => one.toLowerCase() === plain(value))

const allStyles = Object.values(styles).flat()

const isVersion = (value: unknown): boolean =>
  isText(value) && (!/^\s*3\b/.test(value) || /^3\.\d+\.\d+(?:-\S+)?$/.test(value))

/** Returns a version of OpenAPI with its patch number, which some write as a letter. */
function asVersion(value: unknown): string | undefined {
  const text = Number.isFinite(value) ? Number(value).toFixed(1) : String(value)
  const [, version, patch = '0'] = /^\s*(3\.\d+)(?:\.(\d+|\w))?\s*$/.exec(text) ?? []
  return version === undefined ? undefined : `${version}.${/\d/.test(patch) ? patch : 0}`
}

const asInfo: Mend = (value, writtenText) => {
  const { title, version, ...others } = isNode(value) ? value : {}
  // A version such as 1.10 without quotes is the number 1.1.
  const text = typeof version === 'number' ? writtenText('version') : undefined
  return { title: asText(title) ?? 'API', version: text ?? asText(version) ?? '0.0.0', ...others }
}

const asNames: Mend = (value) =>
  ['true', 'false'].includes(plain(value)) ? omitted : isText(value) ? [value] : undefined

export const fieldTypes = {
  text: { expected: 'a string', isValid: isText, mend: asText },
  // Words are for people, so that the service can do without them.
  word: { expected: 'a string', isValid: isText, mend: (value) => asText(value) ?? omitted },
  tags: { expected: 'an array of strings', isValid: isTexts, mend: () => omitted },
  flag: {
    expected: 'true or false',
    isValid: isBoolean,
    mend: (value) => (isText(value) ? flags.get(value.toLowerCase()) : undefined),
  },
  names: { expected: 'an array of strings', isValid: isTexts, mend: asNames },
  number: { expected: 'a number', isValid: isFiniteNumber, mend: asNumber },
  count: { expected: 'a number of at least 0', isValid: isCount, mend: asLimit(isCount) },
  divisor: { expected: 'a number above 0', isValid: isDivisor, mend: asLimit(isDivisor) },
  // In OpenAPI 3.0 an exclusive limit is a flag.
  limit: {
    expected: 'a number',
    isValid: (value) => typeof value === 'boolean' || isFiniteNumber(value),
    mend: asNumber,
  },
  type: {
    expected: `one of ${types.join(', ')}, or an array of them`,
    isValid: (value) => (isList(value) ? value.every(isType) : isType(value)),
    mend: asType,
  },
  values: {
    expected: 'an array with at least one value',
    isValid: isList,
    // A text with commas is probably meant as several values.
    mend: (value) => (isScalar(value) && !String(value).includes(',') ? [value] : undefined),
  },
  textLists: { expected: 'an object with arrays of strings', isValid: isMapOfTexts, mend: never },
  // An undefined style is another rule's.
  style: {
    expected: 'a style of OpenAPI',
    isValid: (value) => isText(value) && (wordLike(value, allStyles) ?? value) === value,
    mend: (value) => wordLike(value, allStyles) ?? asText(value),
  },
  location: wordType('path, query, querystring, header or cookie', locations),
  keyLocation: wordType('query, header or cookie', ['query', 'header', 'cookie']),
  schemeType: wordType(`one of ${schemeTypes.join(', ')}`, schemeTypes),
  version: { expected: 'a version of OpenAPI', isValid: isVersion, mend: asVersion },
  info: {
    expected: 'an object with a title and a version',
    isValid: (value) => isNode(value) && isText(value.title) && isText(value.version),
    mend: asInfo,
  },
  servers: {
    expected: 'an array of objects with a url, and with a default for each of its variables',
    isValid: (value) => Array.isArray(value) && value.every(isServer),
    mend: never,
  },
  security: {
    expected: 'an array of objects with an array of scopes for each scheme',
    isValid: (value) => Array.isArray(value) && value.every(isMapOfTexts),
    mend: never,
  },
  discriminator: {
    expected: 'an object with a propertyName and a mapping to strings',
    isValid: (value) =>
      isNode(value) &&
      isText(value.propertyName) &&
      (value.mapping === undefined || (isNode(value.mapping) && Object.values(value.mapping).every(isText))),
    mend: (value) => (isText(value) ? { propertyName: value } : undefined),
  },
} satisfies Record<string, Field>

function isServer(server: unknown): boolean {
  if (!isNode(server) || !isText(server.url)) return false
  const { variables = {} } = server
  if (!isNode(variables)) return false
  const isVariable = (one: unknown) =>
    isNode(one) && isText(one.default) && (one.enum === undefined || isTexts(one.enum))
  return Object.values(variables).every(isVariable)
}
