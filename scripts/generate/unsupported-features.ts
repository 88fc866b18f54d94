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
 * Returns one line for each place of a bundled document that could not be served as it says, with what to do: no service
 * is better than one that reads a request or writes an answer in another way. A place that several operations refer to has
 * one line.
 */
export function unsupportedFeatures(document: Document): string[] {
  const version = document.openapi
  if (!/^3\.[012]\./.test(version)) return [`#/openapi: ${version} is not read; use 3.0, 3.1 or 3.2`]
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
    ...doubles(all),
    ...scopeProblems(document),
    ...unsupportedSchemas(document),
    ...readWriteProblems(document),
  ]
  return [...new Set(problems)]
}

function pathProblems({ path, routes }: Endpoint): string[] {
  const place = join('#', 'paths', path)
  const problems = []
  // What follows a parameter must tell the router where it ends.
  if (/\}[^/.-]/.test(path)) problems.push(`${place}: a path parameter must end before /, . or -, or with the path`)
  const names = Array.from(path.matchAll(/\{[^}]*\}/g), ([name]) => name)
  const repeated = names.filter((name, index) => names.indexOf(name) < index)
  for (const name of new Set(repeated))
    problems.push(`${place}: ${name} is there twice; name each parameter of a path once`)
  for (const route of routes) {
    if (!route.startsWith('/')) problems.push(`${place}: its server must have a URL with //, or one that begins with /`)
    else if (/[*?#%{]/.test(route.replace(/\{[^}]*\}/g, ''))) {
      problems.push(`${place}: ${route} has one of * ? # % {, which a path cannot have`)
    }
  }
  return problems
}

/** Returns one line for each operation that is at the place of another, by which it would not be reached. */
function doubles(all: Endpoint[]): string[] {
  const seen = new Set<string>()
  const isDouble = (key: string) => seen.size === seen.add(key).size
  return all.flatMap(({ method, routes, pointer }) =>
    routes
      .filter((route) => isDouble(`${method} ${route.replace(/\{[^}]*\}/g, '{}')}`))
      .map((route) => `${pointer}: ${method} ${route} is served by another operation`),
  )
}
