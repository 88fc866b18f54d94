import { join } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints } from './openapi-document.ts'
import { nameProblems } from './operation-ids.ts'
import { readWriteProblems } from './read-write-problems.ts'
import { headerProblems } from './response-headers.ts'
import { scopeProblems } from './security-scopes.ts'
import { bodyContentProblems } from './unsupported-content.ts'
import { itemFieldProblems } from './unsupported-items.ts'
import { operationProblems } from './unsupported-operations.ts'
import { parameterProblems } from './unsupported-parameters.ts'
import { unsupportedSchemas } from './unsupported-schemas.ts'

/**
 * Returns one line, with the remedy, for each place of a bundled document that the service could not serve as
 * described. Rejecting the document is better than parsing requests or writing responses differently from what it says.
 * A place that several operations refer to gets one line.
 */
export function unsupportedFeatures(document: Document): string[] {
  const version = document.openapi
  if (!/^3\.[012]\./.test(version)) return [`#/openapi: ${version} is not supported; use 3.0, 3.1 or 3.2`]
  const all = endpoints(document)
  const problems = [
    ...all.flatMap((endpoint) => [
      ...pathProblems(endpoint),
      ...operationProblems(document, endpoint),
      ...parameterProblems(document, endpoint),
      ...bodyContentProblems(document, endpoint),
      ...itemFieldProblems(endpoint),
      ...Object.values(endpoint.responses).flatMap((response) => headerProblems(document, response)),
    ]),
    ...nameProblems(document),
    ...duplicateRoutes(all),
    ...scopeProblems(document),
    ...unsupportedSchemas(document),
    ...readWriteProblems(document),
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
function duplicateRoutes(all: Endpoint[]): string[] {
  const seen = new Set<string>()
  const isDuplicate = (key: string) => seen.size === seen.add(key).size
  return all.flatMap(({ method, routes, pointer }) =>
    routes
      .filter((route) => isDuplicate(`${method} ${route.replace(/\{[^}]*\}/g, '{}')}`))
      .map((route) => `${pointer}: ${method} ${route} is already served by another operation; remove one of them`),
  )
}
