import { METHODS } from 'node:http'
import { join, resolve } from './json-pointer.ts'
import { type Document, type Endpoint, schemePlace, securityPlace } from './openapi-document.ts'
import { methods } from './openapi-grammar.ts'

/** Returns one line for each place of an operation that cannot be served, except its parameters and media types. */
export const operationProblems = (document: Document, endpoint: Endpoint): string[] => [
  ...methodProblems(endpoint),
  ...statusProblems(endpoint),
  ...securityProblems(document, endpoint),
]

function methodProblems({ method, keys, requestBody, responses, pointer }: Endpoint): string[] {
  const problems = []
  const problem = methodProblem(method, keys)
  if (problem !== undefined) problems.push(problem)
  if (method === 'TRACE') problems.push('TRACE is not supported; remove the operation')
  if (method === 'QUERY' && requestBody?.required !== true) {
    problems.push('QUERY needs a body in each request (RFC 10008 section 2); add a required requestBody')
  }
  if (requestBody !== undefined && ['GET', 'HEAD'].includes(method)) {
    problems.push(`a request body of ${method} is not supported; use parameters or POST`)
  }
  if (Object.keys(responses).length === 0) {
    problems.push('has no response; add one, such as 204')
  }
  return problems.map((problem) => `${pointer}: ${problem}`)
}

/** Returns the problem of a method. Methods are case-sensitive and usually in upper case (RFC 9110 section 9.1). */
function methodProblem(method: string, keys: string[]): string | undefined {
  const field = method.toLowerCase()
  if (keys.length > 1 && methods.includes(field)) {
    return `is a method of OpenAPI itself; write it as ${field}, beside additionalOperations`
  }
  if (METHODS.includes(method) && method !== 'CONNECT') return undefined
  const known = METHODS.find((each) => each !== method && each === method.toUpperCase())
  const remedy = known === undefined ? 'use another one, such as POST' : `write ${known}`
  return `${method} is not a supported method; ${remedy}`
}

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const bodiless = ['204', '205', '304']

function statusProblems({ responses, pointer }: Endpoint): string[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const place = join(pointer, 'responses', status)
    if (!/^([1-5]\d\d|[1-5]XX|default)$/.test(status)) {
      return [`${place}: is not a status; use a number from 200 to 599, a range such as 4XX, or default`]
    }
    if (status.startsWith('1')) return [`${place}: a status from 100 to 199 does not end a request; remove it`]
    const hasBody = bodiless.includes(status) && Object.keys(content).length > 0
    return hasBody ? [`${place}: a ${status} response has no body; remove its content`] : []
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
