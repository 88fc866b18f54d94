import { STATUS_CODES } from 'node:http'
import type { ErrorFacts, ErrorRequest } from 'fastify-contract'
import { type Schema, schemasIn } from 'fastify-contract/contract'
import type { Document } from '../document/openapi-document.ts'
import { commonTypes, isInt64, memberSchemas, partsOf, referencesOf, schemasOfParts } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { exampleOf } from '../examples/schema-values.ts'
import { literal, stringLiteral } from '../text/source-text.ts'

/** A value in the body of an error: its source text, and the function that makes it. */
export type Value = { code: string; make: (facts: ErrorFacts, request: ErrorRequest) => unknown }

/** A member that cannot be filled: its path within the body. */
export class UnknownMember extends Error {}

/** Where a value stands in the body. */
type Place = {
  path: string[]
  /** Whether the body is that of RFC 9457. */
  isProblem: boolean
  /** The names of the members of its object. */
  siblings: string[]
  isRequired: boolean
  /** Whether a required value of unknown meaning is an example. */
  isFilled: boolean
  /** The references that lead to the value. */
  within: string[]
  /** Bounds the values of a body: schemas that refer to each other have no natural size. */
  budget: { left: number }
}

const maxValues = 200

/** Returns the value of the body of an error. Throws an UnknownMember if a required member of it has no known meaning. */
export function bodyOf(document: Document, schema: Schema, kind: Pick<Place, 'isProblem' | 'isFilled'>): Value {
  const start = { ...kind, path: [], siblings: [], isRequired: true, within: [], budget: { left: maxValues } }
  return valueFor(document, [schema], start) as Value
}

/**
 * Returns the value of a schema; undefined for an optional one of unknown meaning. Throws an UnknownMember for a
 * required one.
 */
function valueFor(document: Document, schemas: Schema[], place: Place): Value | undefined {
  const found = schemas.flatMap((schema) => partsOf(document, schema))
  const references = referencesOf(found)
  const isEndless = references.some((one) => place.within.includes(one)) || place.budget.left <= 0
  if (isEndless && !place.isRequired) return undefined
  place.budget.left--
  const inside = { ...place, within: [...place.within, ...references] }
  const parts = schemasOfParts(found)
  const values = parts.flatMap((part) => (part.const === undefined ? [] : [part.const]))
  const lists = parts.flatMap((part) => (Array.isArray(part.enum) ? [part.enum] : []))
  const [only] = [...values, ...lists.filter(({ length }) => length === 1).flat()]
  if (only !== undefined) return constant(only)
  const alternatives = parts.flatMap((part) => [...schemasIn(part, 'oneOf'), ...schemasIn(part, 'anyOf')])
  const type = commonTypes(parts)?.find((one) => one !== 'null')
  const isObject = type === 'object' || (type === undefined && parts.some(({ properties }) => properties !== undefined))
  if (isObject && !isEndless) return objectIn(document, parts, inside)
  if (alternatives.length > 0 && !isEndless) return ofAlternatives(document, parts, alternatives, inside)
  if (type === 'array' && !isEndless) return arrayIn(document, parts, inside)
  const made = lists.length > 0 ? undefined : scalarOf(parts, type, place)
  if (made !== undefined || !place.isRequired) return made
  const given = parts.find((part) => part.default !== undefined)
  if (given !== undefined) return constant(given.default)
  const example = place.isFilled ? exampleOf(document, { allOf: schemas }) : undefined
  if (example !== undefined) return constant(example)
  const kind = lists[0] === undefined ? (type ?? 'any value') : `one of ${lists[0].slice(0, 5).map(String).join(', ')}`
  throw new UnknownMember(`member ${place.path.join('.') || '(the body)'} (${kind}) has no known meaning`)
}

function ofAlternatives(document: Document, parts: Node[], alternatives: Schema[], place: Place): Value | undefined {
  const others = parts.map(({ oneOf: _, anyOf: __, $ref: ___, allOf: ____, ...rest }) => rest)
  let thrown: unknown
  for (const one of alternatives) {
    try {
      const value = valueFor(document, [...others, one], place)
      if (value !== undefined) return value
    } catch (error) {
      thrown ??= error
    }
  }
  if (thrown !== undefined && place.isRequired) throw thrown
  return undefined
}

function objectIn(document: Document, parts: Node[], place: Place): Value | undefined {
  const required = new Set(parts.flatMap((part) => [part.required ?? []].flat() as string[]))
  const siblings = [...new Set([...required, ...parts.flatMap(({ properties }) => Object.keys(Object(properties)))])]
  const members = siblings.flatMap(memberOf)
  return members.length === 0 && !place.isRequired ? undefined : objectOf(members)

  function memberOf(name: string): [string, Value][] {
    const schemas = parts.flatMap((part) => memberSchemas(part, name))
    const path = [...place.path, name]
    try {
      const value = valueFor(document, schemas.length > 0 ? schemas : [true], {
        ...place,
        path,
        siblings,
        isRequired: required.has(name),
      })
      return value === undefined ? [] : [[name, value]]
    } catch (error) {
      if (required.has(name) || !(error instanceof UnknownMember)) throw error
      return []
    }
  }
}

export function objectOf(members: [string, Value][]): Value {
  const codes = members.map(function memberCode([name, { code }]) {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : `[${stringLiteral(name)}]`
    return key === code ? code : `${key}: ${code}`
  })
  return {
    code: codes.length === 0 ? '{}' : `{ ${codes.join(', ')} }`,
    make: (facts, request) => Object.fromEntries(members.map(([name, { make }]) => [name, make(facts, request)])),
  }
}

function arrayIn(document: Document, parts: Node[], place: Place): Value | undefined {
  if (!place.isRequired && !isListOfErrors.test(place.path.at(-1) ?? '')) return undefined
  const items = parts.flatMap((part) => schemasIn(part, 'items'))
  const path = [...place.path, '0']
  try {
    const item = valueFor(document, items.length > 0 ? items : [true], {
      ...place,
      path,
      siblings: [],
      isRequired: true,
    })
    const { code, make } = item as Value
    return { code: `[${code}]`, make: (facts, request) => [make(facts, request)] }
  } catch (error) {
    if (!(error instanceof UnknownMember) || parts.some(({ minItems }) => Number(minItems) > 0)) throw error
    return place.isRequired ? { code: '[]', make: () => [] } : undefined
  }
}

const isListOfErrors = /^(errors|messages|causes|problems)$/i

const constant = (value: unknown): Value => ({
  code: literal(value, Number.POSITIVE_INFINITY),
  make: () => value,
})

export function factText(fact: 'message' | 'kind'): Value {
  return { code: fact, make: (facts) => facts[fact] }
}

export function titleOfStatus(): Value {
  return {
    code: "STATUS_CODES[statusCode] ?? 'Error'",
    make: ({ statusCode }) => STATUS_CODES[statusCode] ?? 'Error',
  }
}

/** The meanings of members by their names, as APIs call them. */
const names = {
  message: /^(error|err|user|developer|status)?_?(message|msg|text|details?|description|reason)$/i,
  title: /^(title|summary|status_?text|name|error)$/i,
  status: /^(http_?)?status(_?code)?$/i,
  code: /^(error|err)?_?(code|number|kind|id|error)$/i,
  type: /^(error_?)?type$/i,
  request: /^((x_)?(request|trace|correlation)_?id|reference)$/i,
  time: /^(time|timestamp|date|occurred_?at|created_?at)$/i,
}

function scalarOf(
  parts: Node[],
  type: string | undefined,
  { path, isProblem, siblings, isRequired }: Place,
): Value | undefined {
  // An item of a list has the name of the list.
  const name = [...path].reverse().find((one) => !/^\d+$/.test(one)) ?? 'message'
  const isCalled = (meaning: keyof typeof names) => names[meaning].test(name)
  const has = (meaning: keyof typeof names) => siblings.some((one) => one !== name && names[meaning].test(one))
  if (type === 'integer' || type === 'number') {
    const fact =
      isCalled('status') || (isCalled('code') && !has('status')) ? 'statusCode' : isCalled('code') ? 'error' : undefined
    if (fact === undefined) return undefined
    if (parts.some(isInt64)) return { code: `BigInt(${fact})`, make: (facts) => BigInt(facts[fact]) }
    return { code: fact, make: (facts) => facts[fact] }
  }
  if (type === 'boolean') {
    if (/^(success|ok)$/i.test(name)) return constant(false)
    return /^(error|is_?error|failed)$/i.test(name) ? constant(true) : undefined
  }
  if (type !== 'string' && type !== undefined) return undefined
  const formats = parts.flatMap(({ format }) => (typeof format === 'string' ? [format] : []))
  if (formats.includes('date-time'))
    return isCalled('time') || isRequired
      ? { code: 'new Date().toISOString()', make: () => new Date().toISOString() }
      : undefined
  if (isCalled('type') && (isProblem || formats.some((format) => format.startsWith('uri'))))
    return constant('about:blank')
  if (formats.some((format) => format !== 'password')) return undefined
  if (parts.some(({ pattern }) => pattern !== undefined)) return undefined
  if (isCalled('request')) return { code: 'id', make: (_facts, { id }) => id }
  if (isCalled('message') || isListOfErrors.test(name)) return message(parts)
  if (isCalled('title')) return has('message') ? titleOfStatus() : message(parts)
  if (isCalled('status')) return { code: 'String(statusCode)', make: ({ statusCode }) => String(statusCode) }
  return isCalled('code') || isCalled('type') ? factText('kind') : undefined
}

function message(parts: Node[]): Value {
  const limit = Math.min(...parts.flatMap(({ maxLength }) => (typeof maxLength === 'number' ? [maxLength] : [])))
  if (limit === Number.POSITIVE_INFINITY) return factText('message')
  return { code: `message.slice(0, ${limit})`, make: (facts) => facts.message.slice(0, limit) }
}
