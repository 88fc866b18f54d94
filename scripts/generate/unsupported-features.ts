import { join } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints, type Located, type Parameter } from './openapi-document.ts'
import { nameProblems } from './operation-ids.ts'
import { headerProblems } from './response-headers.ts'
import { typesOf } from './schema-types.ts'
import { scopeProblems } from './security-scopes.ts'
import { contentProblems } from './unsupported-content.ts'
import { operationProblems } from './unsupported-operations.ts'
import { unsupportedSchemas } from './unsupported-schemas.ts'

/**
 * Returns one line for each place of a bundled document that could not be served as it says, with what to do: no service
 * is better than one that reads a request or writes an answer in another way. A place that several operations refer to has
 * one line.
 */
export function unsupportedFeatures(document: Document): string[] {
  const version = document.openapi
  if (!/^3\.[01]\./.test(version)) return [`#/openapi: ${version} is not read; use 3.0 or 3.1`]
  const all = endpoints(document)
  const problems = [
    ...all.flatMap((endpoint) => [
      ...pathProblems(endpoint),
      ...operationProblems(document, endpoint),
      ...endpoint.parameters.flatMap((parameter) => parameterProblems(document, parameter)),
      ...contentProblems(endpoint),
      ...Object.values(endpoint.responses).flatMap((response) => headerProblems(document, response)),
    ]),
    ...nameProblems(document),
    ...doubles(all),
    ...scopeProblems(document),
    ...unsupportedSchemas(document),
  ]
  return [...new Set(problems)]
}

function pathProblems({ path, routes }: Endpoint): string[] {
  const place = join('#', 'paths', path)
  const problems = []
  // What follows a parameter must tell the router where it ends.
  if (/\}[^/.-]/.test(path)) problems.push(`${place}: a path parameter must end before /, . or -, or with the path`)
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

/** The styles that can be read of each kind (OpenAPI 3.1 section 4.8.12.3). */
const styles = {
  path: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited'],
  header: ['simple'],
  cookie: ['form'],
}

function parameterProblems(document: Document, { in: kind, name, schema, style, pointer }: Located<Parameter>) {
  const problems = []
  const { types, items } = typesOf(document, schema)
  const allowed = styles[kind]
  if (schema === undefined) problems.push('a parameter is described by a schema, not by content')
  if (style !== undefined && !allowed.includes(style)) problems.push(`style ${style} is not read; use ${allowed[0]}`)
  if (types.includes('object')) problems.push('an object is not read; use one parameter for each property')
  if (items.some((type) => type === 'object' || type === 'array')) {
    problems.push('a list of objects or lists is not read; use a body')
  }
  if (types.includes('array') && kind === 'path') problems.push('an array in a path is not read; use the query')
  return problems.map((problem) => `${pointer}: parameter ${name}: ${problem}`)
}
