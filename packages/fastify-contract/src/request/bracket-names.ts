import type { NestedPlace } from '../contract/routes.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { isJson, isNull, setJson, setMember, setScalar, TextError, type Texts } from './text-values.ts'

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
 * Returns the texts of a value whose members have names in brackets, such as `item[price]`, or with dots, such as
 * `item.price`. `isMember` returns whether a name is one of them. Returns undefined if a request has none. Throws a TextError for brackets that are
 * not balanced, and for too many levels. The caller limits the number and the length of the names.
 */
export function branchOf(key: string, texts: Texts, isMember: (name: string) => boolean): Branch | undefined {
  const root: Branch = { texts: [], members: new Map() }
  const names = Object.keys(texts).filter((name) => name === key || isMember(name))
  for (const name of names) {
    let branch = root
    for (const member of namesIn(name.slice(key.length))) {
      const next: Branch = branch.members.get(member) ?? { texts: [], members: new Map() }
      branch.members.set(member, next)
      branch = next
    }
    branch.texts = [...branch.texts, ...[texts[name] as string | string[]].flat()]
  }
  return names.length === 0 ? undefined : root
}

function namesIn(brackets: string): string[] {
  if (brackets === '') return []
  const isDotted = brackets.startsWith('.')
  if (!isDotted && !/^(?:\[[^[\]]*\])+$/.test(brackets)) throw new TextError('must have balanced brackets in its names')
  const names = isDotted ? brackets.slice(1).split('.') : brackets.slice(1, -1).split('][')
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
  const each = places[place.items ?? -1]
  const items = itemsOf(branch, place.types, each)
  const isLone = items?.length === 1 && texts.length === 1 && isNoList(each)
  const array = isLone ? arrayText(texts[0] as string, decode) : undefined
  if (array !== undefined) setJson(document, holder, key, array)
  else if (items !== undefined) {
    const list: unknown[] = []
    for (const item of items) setNested(reading, list, list.length, item, each)
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
function itemsOf({ texts, members }: Branch, types: string[], each: NestedPlace | undefined): Branch[] | undefined {
  if (types.length > 0 && !types.includes('array')) return undefined
  const appended = members.get('')
  if (members.size === 0) return texts.length > 1 || isItem(texts[0] as string, types, each) ? leaves(texts) : undefined
  if (members.size === 1 && appended !== undefined)
    return appended.members.size > 0 ? [appended] : leaves(appended.texts)
  const names = [...members.keys()]
  if (!names.every((name) => indexGrammar.test(name))) return undefined
  return names.sort((one, other) => Number(one) - Number(other)).map((name) => members.get(name) as Branch)
}

/** Returns whether a place has types of its own, and no value in it is an array. */
const isNoList = (place: NestedPlace | undefined): boolean =>
  place !== undefined && place.types.length > 0 && !place.types.includes('array')

/** Returns a text that is a JSON array, as Swagger UI writes the arrays in an object; undefined for any other text. */
function arrayText(text: string, decode: (text: string) => string): string | undefined {
  if (!/^(?:\[|%5B)/i.test(text)) return undefined
  const decoded = decode(text)
  return isJson(decoded) ? decoded : undefined
}

const leaves = (texts: string[]): Branch[] => texts.map((text) => ({ texts: [text], members: new Map() }))

/**
 * Returns whether a lone text is the only item of an array, since no other type takes it. A list of texts may have the item
 * `null`.
 */
const isItem = (text: string, types: string[], each: NestedPlace | undefined): boolean =>
  isComposed(types) && (!isNull(text, types) || (text === 'null' && mayBeText(each)))

const mayBeText = (place: NestedPlace = { types: [] }): boolean =>
  place.types.length === 0 || place.types.includes('string')

/** Returns whether a schema allows no value that a text represents, other than null. */
const isComposed = (types: string[]): boolean =>
  types.length > 0 && types.every((type) => ['array', 'object', 'null'].includes(type))
