import { STATUS_CODES } from 'node:http'
import type { AnyErrorBody, ErrorFacts, ErrorRequest } from 'fastify-contract'
import { type Content, isRange, kindOf, responseKey, type Schema, schemasIn } from 'fastify-contract/contract'
import { createValidator } from 'fastify-contract/schema'
import { type Document, endpoints, type MediaType, type MediaTypes } from '../document/openapi-document.ts'
import { commonTypes, isInt64, memberSchemas, partsOf, referencesOf, schemasOfParts } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import type { Compiled } from '../emit/compile.ts'
import { exampleOf } from '../examples/schema-values.ts'
import { errorBodyProblems } from '../rules/error-bodies.ts'
import { literal, stringLiteral } from '../text/source-text.ts'

/** The module error-body.ts of a document and its replies, or the reasons why it cannot be derived from the document. */
export type DerivedErrorBody = { text: string; errorBody: AnyErrorBody; replies: Reply[] } | { reasons: string[] }

/** A value in the body of an error: its source text, and the function that makes it. */
type Value = { code: string; make: (facts: ErrorFacts, request: ErrorRequest) => unknown }

/** The reply to an error; `type` is its media type or range in the document. */
type Reply = { type: string; contentType: string; body: Value }

/** A member that cannot be filled: its path within the body. */
class UnknownMember extends Error {}

/**
 * Derives the bodies of the service's own errors from the schemas of the document's error responses: by the names and
 * types of their members. Each body that the module makes is validated against every response that it may be sent as.
 */
export function deriveErrorBody({ document, routes }: Pick<Compiled, 'document' | 'routes'>): DerivedErrorBody {
  const statuses = new Set<number>()
  const record: AnyErrorBody = ({ statusCode }) => {
    statuses.add(statusCode)
    throw new Error('not made yet')
  }
  const path = 'src/error-body.ts'
  errorBodyProblems(document, routes, { path, errorBody: record })
  const found = [...statuses].sort().map((status) => repliesOf(document, status))
  const reasons = [...new Set(found.flatMap((one) => one.reasons))]
  if (reasons.length > 0) return { reasons }
  const byStatus = new Map(found.flatMap(({ status, replies }) => (replies[0] ? [[status, replies[0]] as const] : [])))
  const usual = mostFrequent([...byStatus.values()]) ?? usualReply(document)
  if (usual === undefined) return { reasons: ['no error response has a body whose members are all known'] }
  const replyOf = (status: number) => byStatus.get(status) ?? usual
  const errorBody: AnyErrorBody = (facts, request) => {
    const { contentType, body } = replyOf(facts.statusCode)
    return { contentType, body: body.make(facts, request) }
  }
  const problems = errorBodyProblems(document, routes, { path, errorBody })
  if (problems.length > 0)
    return { reasons: problems.map((problem) => problem.replace(/; correct the response.*/s, '')) }
  const special = Array.from(byStatus).filter(([, reply]) => keyOf(reply) !== keyOf(usual))
  return { text: moduleText(usual, special), errorBody, replies: [usual, ...special.map(([, reply]) => reply)] }
}

/**
 * Returns the bodies of errors for a mock: those of `deriveErrorBody`, or else a body for each response, in which members
 * of unknown meaning have example values. An error whose response allows no such body is plain text.
 */
export function describedErrorBody({ document, routes }: Pick<Compiled, 'document' | 'routes'>): AnyErrorBody {
  const derived = deriveErrorBody({ document, routes })
  if ('errorBody' in derived) return derived.errorBody
  const validator = createValidator(routes.schemas)
  const usual = usualReply(document, true) ?? plainText
  const byStatus = new Map<number, Reply>()
  const replyOf = (status: number): Reply => {
    const known = byStatus.get(status) ?? repliesOf(document, status, true).replies[0] ?? usual
    byStatus.set(status, known)
    return known
  }
  const described = new Map(endpoints(document).map(({ operationId, responses }) => [operationId, responses] as const))
  const operations = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  /** Returns the body of a response if the response allows it. */
  const bodyIn = (reply: Reply, content: Content, facts: ErrorFacts, request: ErrorRequest): unknown => {
    const body = reply.body.make(facts, request)
    const { schema = true } = content[reply.type] ?? {}
    validator.response(schema, 'body')(body)
    return body
  }
  return checkedBody

  function checkedBody(facts: ErrorFacts, request: ErrorRequest): ReturnType<AnyErrorBody> {
    const { response = {} } = operations.get(String(request.operation))?.schema ?? {}
    const key = responseKey(response, facts.statusCode) ?? ''
    const given = described.get(String(request.operation))?.[key]?.content
    const content = response[key]?.content
    if (given === undefined || content === undefined) {
      const { contentType, body } = replyOf(facts.statusCode)
      return { contentType, body: body.make(facts, request) }
    }
    try {
      const reply = replyIn(document, given, true)
      return { contentType: reply.contentType, body: bodyIn(reply, content, facts, request) }
    } catch {
      return { contentType: plainText.contentType, body: facts.message }
    }
  }
}

const plainText: Reply = { type: 'text/plain', contentType: 'text/plain', body: factText('message') }

/** Returns the most frequent reply of all error responses, or RFC 9457 without any; undefined if none can be made. */
function usualReply(document: Document, isFilled = false): Reply | undefined {
  const found = endpoints(document).flatMap(({ responses }) =>
    Object.keys(responses)
      .filter((status) => /^([45]|default)/.test(status))
      .map((status) => repliesOf(document, Number(status.replace('XX', '00')) || 599, isFilled)),
  )
  const isDescribed = found.some(({ replies, reasons }) => replies.length + reasons.length > 0)
  return isDescribed ? mostFrequent(found.flatMap(({ replies }) => replies)) : problemDetails
}

/** RFC 9457: what the service sends if the document describes no errors. */
const problemDetails: Reply = {
  type: 'application/problem+json',
  contentType: 'application/problem+json',
  body: objectOf([
    ['title', titleOfStatus()],
    ['status', { code: 'statusCode', make: ({ statusCode }) => statusCode }],
    ['detail', { code: 'message', make: ({ message }) => message }],
  ]),
}

const keyOf = ({ contentType, body }: Reply): string => `${contentType} ${body.code}`

function mostFrequent(replies: Reply[]): Reply | undefined {
  const counts = new Map<string, number>()
  for (const reply of replies) counts.set(keyOf(reply), (counts.get(keyOf(reply)) ?? 0) + 1)
  const count = (reply: Reply) => counts.get(keyOf(reply)) as number
  return [...replies].sort((one, other) => count(other) - count(one))[0]
}

/** Returns the replies that the operations of a document describe for a status, the most frequent first. */
function repliesOf(
  document: Document,
  status: number,
  isFilled = false,
): { status: number; replies: Reply[]; reasons: string[] } {
  const replies: Reply[] = []
  const reasons: string[] = []
  for (const { responses } of endpoints(document)) {
    const response = responses[responseKey(responses, status) ?? '']
    if (response?.content === undefined || Object.keys(response.content).length === 0) continue
    try {
      replies.push(replyIn(document, response.content, isFilled))
    } catch (error) {
      if (!(error instanceof UnknownMember)) throw error
      reasons.push(`${response.pointer}: ${error.message}`)
    }
  }
  const first = mostFrequent(replies)
  return { status, replies: first === undefined ? [] : [first], reasons }
}

/** Returns the reply in the first media type that can be made; JSON first. */
function replyIn(document: Document, content: MediaTypes, isFilled = false): Reply {
  const types = Object.entries(content)
  const json = types.find(([type]) => !isRange(type) && kindOf(type) === 'json')
  const range = types.find(([type]) => isRange(type) && /^(\*|application)\//.test(type))
  const text = types.find(([type]) => !isRange(type) && kindOf(type) === 'text')
  const [type, { schema = true }] = (json ?? range ?? text ?? types[0]) as [string, MediaType]
  if (json === undefined && range === undefined && text === undefined)
    throw new UnknownMember(`the body is ${type}; only JSON and text can be made`)
  const contentType = isRange(type) ? 'application/json' : type
  const isProblem = contentType.startsWith('application/problem+')
  if (json === undefined && range === undefined) return { type, contentType, body: factText('message') }
  const start = { path: [], isProblem, siblings: [], isRequired: true, isFilled, within: [] }
  const body = valueFor(document, [schema], { ...start, budget: { left: maxValues } }) as Value
  return { type, contentType, body }
}

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

function objectOf(members: [string, Value][]): Value {
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

function factText(fact: 'message' | 'kind'): Value {
  return { code: fact, make: (facts) => facts[fact] }
}

function titleOfStatus(): Value {
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

/** Returns the text of the module error-body.ts. */
function moduleText(usual: Reply, special: [number, Reply][]): string {
  const all = [usual, ...special.map(([, reply]) => reply)].map(keyOf).join(' ')
  const uses = (name: string) => new RegExp(`\\b${name}\\b(?!:)`).test(all.replace(/'(?:[^'\\]|\\.)*'/g, ''))
  const facts = ['error', 'kind', 'message', 'statusCode'].filter(
    (name) => (name === 'statusCode' && special.length > 0) || uses(name),
  )
  const parameters = [`{ ${facts.join(', ')} }`, ...(uses('id') ? ['{ id }'] : [])].join(', ')
  const cases = special.flatMap(([status, reply]) => [
    `    case ${status}:`,
    `      return ${replyText(reply, '      ')}`,
  ])
  const body =
    special.length === 0
      ? `(${replyText(usual, '')})`
      : [
          '{',
          '  switch (statusCode) {',
          ...cases,
          '    default:',
          `      return ${replyText(usual, '      ')}`,
          '  }',
          '}',
        ].join('\n')
  return [
    ...(uses('STATUS_CODES') ? ["import { STATUS_CODES } from 'node:http'"] : []),
    "import type { ErrorBody } from 'fastify-contract'",
    "import type { operations } from '../generated/api.d.ts'",
    '',
    '/** Returns the body of each error that the service itself sends, such as 400 for an invalid request. */',
    `export const errorBody: ErrorBody<operations> = (${parameters}) => ${body}`,
    '',
  ].join('\n')
}

const replyText = ({ contentType, body }: Reply, indent: string): string =>
  `{\n${indent}  contentType: ${stringLiteral(contentType)},\n${indent}  body: ${body.code},\n${indent}}`
