import { METHODS } from 'node:http'
import { join, resolve } from './json-pointer.ts'
import { type Document, type Endpoint, schemePlace, securityPlace } from './openapi-document.ts'
import { methods } from './openapi-grammar.ts'

/** Returns one line for each place of an operation, beside its parameters and media types, that cannot be served. */
export const operationProblems = (document: Document, endpoint: Endpoint): string[] => [
  ...methodProblems(endpoint),
  ...statusProblems(endpoint),
  ...securityProblems(document, endpoint),
]

function methodProblems({ method, keys, requestBody, responses, pointer }: Endpoint): string[] {
  const problems = []
  const problem = methodProblem(method, keys)
  if (problem !== undefined) problems.push(problem)
  if (method === 'TRACE') problems.push('TRACE is not served; leave the operation out')
  if (method === 'QUERY' && requestBody?.required !== true) {
    problems.push('QUERY has a body in each request (RFC 10008 section 2); describe one that is required')
  }
  if (requestBody !== undefined && ['GET', 'HEAD'].includes(method)) {
    problems.push(`a body of ${method} is not read; use parameters or POST`)
  }
  if (Object.keys(responses).length === 0) {
    problems.push('has no response, so that no handler can answer; describe one, such as 204')
  }
  return problems.map((problem) => `${pointer}: ${problem}`)
}

/** Methods of additionalOperations are those that requests have, in upper case (RFC 9110 section 9.1). */
function methodProblem(method: string, keys: string[]): string | undefined {
  const field = method.toLowerCase()
  if (keys.length > 1 && methods.includes(field)) {
    return `is no additional operation; write it as ${field}, beside additionalOperations`
  }
  if (METHODS.includes(method) && method !== 'CONNECT') return undefined
  const known = METHODS.find((each) => each !== method && each === method.toUpperCase())
  const remedy = known === undefined ? 'use another one, such as POST' : `write ${known}`
  return `${method} is no method that is served; ${remedy}`
}

/** Statuses whose answers have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const bodiless = ['204', '205', '304']

function statusProblems({ responses, pointer }: Endpoint): string[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const place = join(pointer, 'responses', status)
    if (!/^([1-5]\d\d|[1-5]XX|default)$/.test(status)) {
      return [`${place}: is no status; use a number from 200 to 599, a range such as 4XX, or default`]
    }
    if (status.startsWith('1')) return [`${place}: a status from 100 to 199 is no answer; leave it out`]
    const hasBody = bodiless.includes(status) && Object.keys(content).length > 0
    return hasBody ? [`${place}: an answer ${status} has no body; leave its content out`] : []
  })
}

function securityProblems(document: Document, endpoint: Endpoint): string[] {
  return endpoint.security
    .flatMap((requirement) => Object.keys(requirement))
    .filter((scheme) => resolve(document, schemePlace(scheme)) === undefined)
    .map(
      (scheme) =>
        `${securityPlace(document, endpoint)}: ${scheme} is not in #/components/securitySchemes; add it there`,
    )
}
