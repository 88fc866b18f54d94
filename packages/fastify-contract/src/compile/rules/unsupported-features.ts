import { METHODS } from 'node:http'
import { isScope } from '../../auth/tokens.ts'
import { kindOf } from '../../serve/media-types.ts'
import { headersOf, isGiven } from '../document/contents.ts'
import { deprecationProblems } from '../document/deprecation.ts'
import { join, resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints, schemePlace, securityPlace } from '../document/openapi-document.ts'
import { neededScopes } from '../document/security-schemes.ts'
import { methods } from '../document/walk-document.ts'
import { bodyContentProblems } from './unsupported-bodies.ts'
import { parameterProblems } from './unsupported-parameters.ts'
import { unsupportedSchemas } from './unsupported-schemas.ts'

/** The rules for an operation, with its path, its parameters and its bodies. */
const operationRules: ((endpoint: Endpoint, document: Document) => string[])[] = [
  pathProblems,
  methodProblems,
  statusProblems,
  securityProblems,
  parameterProblems,
  bodyContentProblems,
  itemFieldProblems,
  headerProblems,
  deprecationProblems,
]

/** The rules for a document as a whole. */
const documentRules: ((document: Document) => string[])[] = [
  dialectProblems,
  nameProblems,
  duplicateRoutes,
  scopeProblems,
  (document) => roundedNumbers(document, '#'),
  unsupportedSchemas,
]

/**
 * Returns one line, with the remedy, for each place of a bundled document that the service could not serve as
 * described. Rejecting the document is better than parsing requests or writing responses differently from what it says.
 * A place that several operations refer to gets one line.
 */
export function unsupportedFeatures(document: Document): string[] {
  const problems = [
    ...endpoints(document).flatMap((endpoint) => operationRules.flatMap((rule) => rule(endpoint, document))),
    ...documentRules.flatMap((rule) => rule(document)),
  ]
  return [...new Set(problems)]
}

function pathProblems({ path, routes }: Endpoint): string[] {
  const place = join('#', 'paths', path)
  const problems = []
  // The router ends a parameter only at one of these characters.
  if (/\}[^/.-]/.test(path)) problems.push(`${place}: a path parameter must be followed by /, . or -, or end the path`)
  const names = Array.from(path.matchAll(/\{[^}]*\}/g), ([name]) => name)
  const repeated = names.filter((name, index) => names.indexOf(name) < index)
  for (const name of new Set(repeated)) problems.push(`${place}: ${name} occurs twice; use each path parameter once`)
  for (const route of routes) {
    const [unsupported] = /[*?#%{]/.exec(route.replace(/\{[^}]*\}/g, '')) ?? []
    if (!route.startsWith('/')) {
      problems.push(
        `${place}: ${route} does not begin with /; begin the server URL with / or with a scheme such as https://`,
      )
    } else if (unsupported !== undefined) {
      problems.push(`${place}: ${route} contains ${unsupported}, which is not supported in a path; remove it`)
    }
  }
  return problems
}

/** Returns one line for each operation that has the method and path of another one and so would never be called. */
function duplicateRoutes(document: Document): string[] {
  const seen = new Set<string>()
  const isDuplicate = (key: string) => seen.size === seen.add(key).size
  return endpoints(document).flatMap(({ method, routes, pointer }) =>
    routes
      .filter((route) => isDuplicate(`${method} ${route.replace(/\{[^}]*\}/g, '{}')}`))
      .map((route) => `${pointer}: ${method} ${route} is already served by another operation; remove one of them`),
  )
}

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

function securityProblems(endpoint: Endpoint, document: Document): string[] {
  return endpoint.security
    .flatMap((requirement) => Object.keys(requirement))
    .filter((scheme) => resolve(document, schemePlace(scheme)) === undefined)
    .map(
      (scheme) =>
        `${securityPlace(document, endpoint)}: ${scheme} is not in #/components/securitySchemes; add it there`,
    )
}

/** Fields of a media type that describe its items one by one (OpenAPI 3.2 section 4.14). */
const ofItems = ['itemSchema', 'prefixEncoding', 'itemEncoding']

/** Returns one line for each media type of an operation whose items are described in an unsupported way. */
function itemFieldProblems({ requestBody, responses }: Endpoint): string[] {
  const bodies = [
    ...(requestBody === undefined ? [] : [{ ...requestBody, isReply: false }]),
    ...Object.values(responses).map((response) => ({ ...response, isReply: true })),
  ]
  return bodies.flatMap(({ content = {}, pointer, isReply }) =>
    Object.entries(content).flatMap(([mediaType, media]) =>
      ofItems
        .filter((field) => Object.hasOwn(media, field))
        .map(
          (field) => `${join(pointer, 'content', mediaType, field)}: ${problemOf(field, mediaType, isReply, media)}`,
        ),
    ),
  )
}

function problemOf(field: string, mediaType: string, isReply: boolean, media: object): string {
  if (field !== 'itemSchema') return 'parts without names are not supported; use multipart/form-data with encoding'
  if (!isReply) return 'items are not supported in a request; describe the whole body with schema'
  if (Object.hasOwn(media, 'schema'))
    return 'cannot be combined with schema; describe either the items or the whole body'
  if (kindOf(mediaType) !== 'events')
    return `items of ${mediaType} are not supported; use application/jsonl or text/event-stream`
  return 'only data of an event may be required or constrained beyond its type; describe only data, event, id and retry'
}

/**
 * Returns the pointer to an operation below its path, without following a $ref: the derived name belongs to the path.
 */
export const pathPlace = ({ path, keys }: Endpoint): string => join('#', 'paths', path, ...keys)

/** Returns one line for each operation whose operationId another operation has, too. */
function nameProblems(document: Document): string[] {
  const all = endpoints(document)
  const seen = new Set<string>()
  const isDuplicate = (name: string) => seen.size === seen.add(name).size
  const given = all.filter(({ hasDerivedId }) => !hasDerivedId)
  const derived = all.filter(({ hasDerivedId }) => hasDerivedId)
  return [
    ...given
      .filter(({ operationId }) => isDuplicate(operationId))
      .map(({ operationId, pointer }) => `${pointer}: operationId ${operationId} is used twice; rename one of them`),
    ...derived
      .filter(({ operationId }) => isDuplicate(operationId))
      .map(
        (endpoint) =>
          `${pathPlace(endpoint)}: has no operationId, and ${endpoint.operationId}, derived from its method and path, is the name of another operation; add an operationId`,
      ),
  ]
}

/** Returns one line for each scope that is not valid in a token or a challenge (RFC 6749 section 3.3). */
export function scopeProblems(document: Document): string[] {
  return neededScopes(document)
    .filter(({ scope }) => !isScope(scope))
    .map(
      ({ pointer, scope }) =>
        `${pointer}: scope ${JSON.stringify(scope)} is not valid (RFC 6749); use printable ASCII without spaces, " and \\`,
    )
}

const dialects = /oas\/3\.[12]\/dialect\/|json-schema\.org\/draft\/2020-12/

function dialectProblems({ jsonSchemaDialect: dialect }: Document & { jsonSchemaDialect?: unknown }): string[] {
  return dialect === undefined || dialects.test(String(dialect))
    ? []
    : [`#/jsonSchemaDialect: ${dialect} is not supported; remove it`]
}

/** Returns one line for each rounded number in any value, since examples and extensions are rounded as well. */
function roundedNumbers(value: unknown, pointer: string): string[] {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const advice = 'remove it (int64 implies its own limits) or state it in the description'
    return [`${pointer}: an integer beyond 2^53 - 1 would be rounded; ${advice}`]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => roundedNumbers(below, join(pointer, key)))
}

/** Returns one line for each header of a response that the service cannot write as the document says. */
function headerProblems({ responses }: Endpoint, document: Document): string[] {
  return Object.values(responses).flatMap((response) =>
    headersOf(document, response)
      .filter(([name, header]) => isGiven(name) && 'content' in header)
      .map(
        ([name, { pointer }]) =>
          `${pointer}: header ${name}: content is not supported; describe the header with schema`,
      ),
  )
}
