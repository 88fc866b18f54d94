import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyErrorBody, ErrorFacts } from 'fastify-contract'
import {
  type Content,
  contentNegotiation,
  contentTypeOf,
  type ErrorName,
  hasKeys,
  isInRange,
  isRange,
  keyErrors,
  kindOf,
  type Operation,
  type Routes,
  requestKindOf,
  responseKey,
} from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { errorNumbersOf } from '../document/error-numbers.ts'
import { join } from '../document/json-pointer.ts'
import { byOperationId, type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { refusal } from '../reports/reports.ts'

/** When an error of the service itself occurs. */
type Occurrence = {
  /** Returns whether it may end a request to an operation; absent if such requests do not reach an operation. */
  ends?: (operation: Operation) => boolean
  /** Whether it occurs before routing has found the operation, or both before and after that; default: only after. */
  occurs?: 'before' | 'both'
}

const always = () => true
const hasBody = ({ schema }: Operation) => schema.body !== undefined
/** Fastify rejects a body that it has no parser for, unless the method is GET or HEAD; the operation need not have one. */
const readsBody = ({ method, schema }: Operation) => schema.body !== undefined || !['GET', 'HEAD'].includes(method)
const hasJsonBody = ({ schema }: Operation) =>
  Object.keys(schema.body?.content ?? {}).some((mediaType) => requestKindOf(mediaType) === 'json')
/** The router decodes paths and the query before the operation is known; split path parameters are decoded later. */
const hasDecodedText = ({ parameters }: Operation) =>
  parameters.some((parameter) => parameter.in === 'query' || parameter.segment !== undefined)
const isValidated = ({ schema, parameters, preconditions }: Operation) =>
  schema.body !== undefined || parameters.length > 0 || preconditions !== undefined
const requiresCredentials = ({ security }: Operation) =>
  security.some((requirement) => Object.keys(requirement).length > 0)
const requiresScopes = ({ security }: Operation) =>
  security.some((requirement) => Object.values(requirement).some((scopes) => scopes.length > 0))

/** When each error of the service itself occurs. */
const occurrences: Record<ErrorName | keyof typeof keyErrors, Occurrence> = {
  malformedRequest: { ends: always, occurs: 'both' },
  undecodableTarget: { ends: hasDecodedText, occurs: 'both' },
  notJson: { ends: hasJsonBody },
  invalid: { ends: isValidated },
  missingToken: { ends: requiresCredentials },
  invalidToken: { ends: requiresCredentials },
  insufficientScope: { ends: requiresScopes },
  noSuchPath: {},
  noSuchMethod: {},
  notAcceptable: { ends: ({ schema }) => contentNegotiation(schema) !== undefined },
  tooSlow: { ends: always, occurs: 'before' },
  preconditionFailed: { ends: ({ preconditions }) => preconditions?.statuses.includes(412) === true },
  bodyTooLarge: { ends: hasBody },
  unsupportedMediaType: { ends: readsBody },
  unsupportedEncoding: { ends: hasBody },
  expectationFailed: { ends: always, occurs: 'before' },
  preconditionRequired: { ends: ({ preconditions }) => preconditions?.isRequired === true },
  tooManyRequests: { ends: always },
  headersTooLarge: { ends: always, occurs: 'before' },
  internal: { ends: always, occurs: 'both' },
  notImplemented: {},
  unavailable: { ends: always, occurs: 'both' },
  requestInProgress: { ends: hasKeys },
  keyReused: { ends: hasKeys },
}

/** Sample messages, one short and one long: the service may list ten problems of a request in one message. */
const messages = ['an example of a message', 'body/name must be a string; '.repeat(40)]

/** The maximum number of characters of a body in a problem line. */
const maxShown = 200

/** The reason why a response does not allow an error, and the body in question, if one was made. */
type Problem = { reason: string; body?: unknown }

/**
 * Returns one line for each declared response that does not allow one of the service's own errors. Makes the body of
 * each error that may end a request to the operation, and validates it against the response that is declared for its
 * status. A response without content and a status without a response allow any body.
 */
export function errorBodyProblems(document: Document, routes: Routes, { path, errorBody }: ErrorBodySource): string[] {
  const keyNumbers = Object.entries(keyErrors).map(([kind, { error }]) => [kind, error])
  const numbers = { ...Object.fromEntries(keyNumbers), ...errorNumbersOf(document) }
  const validator = createValidator(routes.schemas)
  const operations = byOperationId(routes.operations)
  const found = new Map<string, { statuses: Set<number>; body?: unknown }>()
  for (const endpoint of endpoints(document)) {
    const operation = operations.get(endpoint.operationId) as Operation
    for (const [kind, error] of Object.entries(occurrences)) {
      const number = numbers[kind]
      if (number === undefined || !error.ends?.(operation)) continue
      const status = Math.trunc(number / 100)
      for (const { reason, body } of problemsOf(endpoint, operation, error, {
        kind,
        error: number,
        statusCode: status,
      })) {
        if (!found.has(reason)) found.set(reason, { statuses: new Set(), body })
        found.get(reason)?.statuses.add(status)
      }
    }
  }
  const lines: string[] = []
  for (const [reason, { statuses, body }] of found) {
    const example = body === undefined ? '' : `, as in ${shown(body)}`
    const line = reason.replace('{statuses}', [...statuses].sort().join(', '))
    lines.push(`${line}${example}; correct the response, or errorBody in ${path}`)
  }
  return lines

  function problemsOf(endpoint: Endpoint, operation: Operation, error: Occurrence, facts: object): Problem[] {
    const { statusCode } = facts as ErrorFacts
    const { response } = operation.schema
    const key = responseKey(response, statusCode)
    const content = response[key ?? '']?.content
    if (key === undefined || content === undefined) return []
    // An error can occur before the request is matched to an operation; errorBody then gets undefined instead of one.
    const { occurs = 'after' } = error
    const known = [...(occurs === 'after' ? [] : [undefined]), ...(occurs === 'before' ? [] : [operation])]
    const pointer = join(endpoint.responses[key]?.pointer ?? '', 'content')
    const problems: Problem[] = []
    for (const each of known) {
      for (const message of messages) {
        const request = { id: 'a', operation: each?.operationId }
        const problem = problemOf(content, { ...facts, message } as ErrorFacts, request)
        if (problem !== undefined) problems.push({ ...problem, reason: refusal('error-body', pointer, problem.reason) })
      }
    }
    return problems
  }

  function problemOf(
    content: Content,
    error: ErrorFacts,
    request: { id: string; operation: string | undefined },
  ): Problem | undefined {
    let made: unknown
    try {
      const { contentType, body } = errorBody(error, request)
      made = body
      const type = Object.keys(content).find((each) => isSameType(each, contentType))
      if (type === undefined) return { reason: `errors {statuses} are sent as ${contentType}, which is not declared` }
      const { schema = true } = content[type] ?? {}
      const isChecked = kindOf(contentType) === 'json' || !isRange(type)
      if (isChecked) validator.response(schema, 'body')(kindOf(contentType) === 'json' ? body : String(body))
      return undefined
    } catch (thrown) {
      const reason = (thrown as Error).message.replace('the response does not match its schema: ', '')
      return { reason: `the body of errors {statuses} does not match the declared schema: ${reason}`, body: made }
    }
  }
}

function shown(body: unknown): string {
  const text = String(stringifyJson(body))
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

/** Returns whether a declared media type or range covers the media type of an error. */
const isSameType = (declared: string, contentType: string): boolean =>
  isRange(declared) ? isInRange(declared, contentType) : contentTypeOf(declared) === contentTypeOf(contentType)

/** The modification time in milliseconds that each module had when it was first loaded, by URL. */
const loaded = new Map<string, number>()

/** The function that makes the bodies of a service's own errors, and the path of its module. */
export type ErrorBodySource = { path: string; errorBody: AnyErrorBody }

/**
 * Loads the function errorBody from the current state of a module. Rejects if the module or its errorBody is missing.
 */
export async function loadErrorBody(path: string): Promise<ErrorBodySource> {
  const url = pathToFileURL(resolve(path))
  const { mtimeMs } = statSync(url, { throwIfNoEntry: false }) ?? {}
  if (mtimeMs === undefined) {
    throw new Error(`${path} does not exist; correct the path, or add the module with a function errorBody`)
  }
  // Node caches a module by its URL, so a changed module needs a new one.
  if ((loaded.get(url.href) ?? mtimeMs) !== mtimeMs) url.search = `changed=${mtimeMs}`
  else loaded.set(url.href, mtimeMs)
  const { errorBody } = await import(url.href)
  if (typeof errorBody === 'function') return { path, errorBody }
  throw new Error(`${path} does not export a function errorBody; add one that returns the body of an error`)
}
