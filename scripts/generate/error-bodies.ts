import type { AnyErrorBody, ErrorFacts } from '../../src/openapi/error-types.ts'
import { contentTypeOf, holds, isRange, kindOf } from '../../src/openapi/media-types.ts'
import type { Content, Operation, Routes } from '../../src/openapi/routes.ts'
import { createValidator } from '../../src/openapi/validator.ts'
import { errorNumbersOf } from './error-numbers.ts'
import { join } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints } from './openapi-document.ts'
import { type ServiceError, serviceErrors } from './service-errors.ts'

/** Messages as the service has them, short and long: a problem of a request may name ten places. */
const messages = ['the request is not as it must be', 'body/name must be a string; '.repeat(40)]

/**
 * Returns one line for each response that the service's own errors cannot have: it makes the body of each error that may
 * end a request to the operation, and validates it against what the response declares for its status. A response without
 * content, or a status without a response, declares nothing.
 */
export function errorBodyProblems(document: Document, routes: Routes, errorBody: AnyErrorBody): string[] {
  const numbers = errorNumbersOf(document)
  const validator = createValidator(routes.schemas)
  const operations = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  const statuses = new Map<string, Set<number>>()
  for (const endpoint of endpoints(document)) {
    const operation = operations.get(endpoint.operationId) as Operation
    for (const [kind, error] of Object.entries(serviceErrors)) {
      const number = numbers[kind]
      if (number === undefined || !error.ends?.(operation)) continue
      const status = Math.trunc(number / 100)
      for (const problem of problemsOf(endpoint, operation, error, { kind, error: number, statusCode: status })) {
        statuses.set(problem, (statuses.get(problem) ?? new Set()).add(status))
      }
    }
  }
  return Array.from(statuses, ([problem, found]) => problem.replace('{statuses}', [...found].sort().join(', ')))

  function problemsOf(endpoint: Endpoint, operation: Operation, error: ServiceError, facts: object): string[] {
    const { statusCode } = facts as ErrorFacts
    const { response } = operation.schema
    const key = [`${statusCode}`, `${Math.trunc(statusCode / 100)}XX`, 'default'].find((each) => response[each])
    const content = response[key ?? '']?.content
    if (key === undefined || content === undefined) return []
    const known = [...(error.comes === undefined ? [] : [undefined]), ...(error.comes === 'before' ? [] : [operation])]
    const place = join(endpoint.responses[key]?.pointer ?? '', 'content')
    return known.flatMap((each) =>
      messages.flatMap((message) => {
        const request = { id: 'a', operation: each?.operationId }
        const problem = problemOf(content, { ...facts, message } as ErrorFacts, request)
        return problem === undefined
          ? []
          : [`${place}${problem}; correct the response, or errorBody in src/error-body.ts`]
      }),
    )
  }

  function problemOf(
    content: Content,
    error: ErrorFacts,
    request: { id: string; operation: string | undefined },
  ): string | undefined {
    try {
      const { contentType, body } = errorBody(error, request)
      const type = Object.keys(content).find((each) => isSameType(each, contentType))
      if (type === undefined) return `: errors {statuses} are sent as ${contentType}, which is not declared`
      const { schema = true } = content[type] ?? {}
      const isChecked = kindOf(contentType) === 'json' || !isRange(type)
      if (isChecked) validator.response(schema)(kindOf(contentType) === 'json' ? body : String(body))
      return undefined
    } catch (thrown) {
      const reason = (thrown as Error).message.replace('the response breaks its schema: response', 'it')
      return `: the body of errors {statuses} is not what it declares: ${reason}`
    }
  }
}

/** Returns whether errors of a media type may be sent as what a document declares. */
const isSameType = (declared: string, contentType: string): boolean =>
  isRange(declared) ? holds(declared, contentType) : contentTypeOf(declared) === contentTypeOf(contentType)
