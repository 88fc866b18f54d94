import type { AnyErrorBody, ErrorFacts, ErrorRequest } from 'fastify-contract'
import { type Content, isRange, kindOf, responseKey } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { type Document, endpoints, type MediaType, type MediaTypes } from '../document/openapi-document.ts'
import type { Compiled } from '../emit/compile.ts'
import { errorBodyProblems } from '../rules/error-bodies.ts'
import { stringLiteral } from '../text/source-text.ts'
import { bodyOf, factText, objectOf, titleOfStatus, UnknownMember, type Value } from './error-values.ts'

/** The module error-body.ts of a document and its replies, or the reasons why it cannot be derived from the document. */
export type DerivedErrorBody = { text: string; errorBody: AnyErrorBody; replies: Reply[] } | { reasons: string[] }

/** The reply to an error; `type` is its media type or range in the document. */
type Reply = { type: string; contentType: string; body: Value }

/**
 * Derives the bodies of the service's own errors from the schemas of the document's error responses: by the names and
 * types of their members. Each body that the module makes is validated against every response that it may be sent as.
 */
export function deriveErrorBody({ document, routes }: Pick<Compiled, 'document' | 'routes'>): DerivedErrorBody {
  const statuses = new Set<number>()
  // Thousands of errors with a stack each would take longer than the rest.
  const notMade = new Error('not made yet')
  const record: AnyErrorBody = ({ statusCode }) => {
    statuses.add(statusCode)
    throw notMade
  }
  const path = 'src/error-body.ts'
  errorBodyProblems(document, routes, { path, errorBody: record })
  const repliesOf = repliesIn(document)
  const found = [...statuses].sort().map((status) => repliesOf(status))
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
  const repliesOf = repliesIn(document, true)
  const replyOf = (status: number): Reply => {
    const known = byStatus.get(status) ?? repliesOf(status).replies[0] ?? usual
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
  const repliesOf = repliesIn(document, isFilled)
  const found = endpoints(document).flatMap(({ responses }) =>
    Object.keys(responses)
      .filter((status) => /^([45]|default)/.test(status))
      .map((status) => repliesOf(Number(status.replace('XX', '00')) || 599)),
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

/** What the operations of a document describe for a status: the most frequent reply, and why others cannot be made. */
type Described = { status: number; replies: Reply[]; reasons: string[] }

/** Returns a function that returns what the operations of a document describe for a status. */
function repliesIn(document: Document, isFilled = false): (status: number) => Described {
  const all = endpoints(document)
  const described = new Map<number, Described>()
  /** The replies by their content, which many operations have in common. */
  const made = new Map<string, Reply | UnknownMember>()
  return repliesOf

  function repliesOf(status: number): Described {
    const known = described.get(status) ?? describe(status)
    described.set(status, known)
    return known
  }

  function describe(status: number): Described {
    const replies: Reply[] = []
    const reasons: string[] = []
    for (const { responses } of all) {
      const response = responses[responseKey(responses, status) ?? '']
      if (response?.content === undefined || Object.keys(response.content).length === 0) continue
      const reply = replyTo(response.content)
      if (reply instanceof UnknownMember) reasons.push(`${response.pointer}: ${reply.message}`)
      else replies.push(reply)
    }
    const first = mostFrequent(replies)
    return { status, replies: first === undefined ? [] : [first], reasons }
  }

  function replyTo(content: MediaTypes): Reply | UnknownMember {
    const key = String(stringifyJson(content))
    const known = made.get(key) ?? tryReply(content)
    made.set(key, known)
    return known
  }

  function tryReply(content: MediaTypes): Reply | UnknownMember {
    try {
      return replyIn(document, content, isFilled)
    } catch (error) {
      if (error instanceof UnknownMember) return error
      throw error
    }
  }
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
  return { type, contentType, body: bodyOf(document, schema, { isProblem, isFilled }) }
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
