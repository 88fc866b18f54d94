import { type Document, type Endpoint, endpoints, join, type Located, type Parameter, resolve } from './document.ts'
import { isJson } from './json-body.ts'

/**
 * Takes a bundled document; gives one line for each place that could not be served as it says, with what to do: better
 * no service than one that reads a request or writes an answer in another way.
 */
export function unservable(document: Document): string[] {
  return endpoints(document).flatMap((endpoint) => [
    ...pathProblems(endpoint),
    ...endpoint.parameters.flatMap((parameter) => parameterProblems(document, parameter)),
    ...contentProblems(endpoint),
  ])
}

function pathProblems({ path, method }: Endpoint): string[] {
  const place = join('#', 'paths', path)
  const problems = []
  if (method === 'TRACE') problems.push(`${join(place, 'trace')}: TRACE is not served; leave the operation out`)
  // What follows a parameter must tell the router where it ends.
  if (/\}[^/.-]/.test(path)) problems.push(`${place}: a path parameter must end before /, . or -, or with the path`)
  return problems
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
  const types = typesOf(document, schema)
  const allowed = styles[kind]
  if (schema === undefined) problems.push('a parameter is described by a schema, not by content')
  if (style !== undefined && !allowed.includes(style)) problems.push(`style ${style} is not read; use ${allowed[0]}`)
  if (types.includes('object')) problems.push('an object is not read; use one parameter for each property')
  if (types.includes('array') && kind === 'path') problems.push('an array in a path is not read; use the query')
  return problems.map((problem) => `${pointer}: parameter ${name}: ${problem}`)
}

function typesOf(document: Document, schema: unknown): unknown[] {
  const { $ref, type, properties } = (schema ?? {}) as { $ref?: string; type?: unknown; properties?: object }
  const own = [type, properties && 'object'].flat()
  return $ref === undefined ? own : [...own, ...typesOf(document, resolve(document, $ref))]
}

function contentProblems({ requestBody, responses }: Endpoint): string[] {
  const problems = []
  for (const mediaType of Object.keys(requestBody?.content ?? {})) {
    if (!isJson(mediaType)) problems.push(`${requestBody?.pointer}/content: ${mediaType} is not read, only JSON is`)
  }
  for (const { content, pointer } of Object.values(responses)) {
    const [mediaType, ...more] = Object.keys(content ?? {})
    if (more.length > 0) problems.push(`${pointer}/content: one media type can be written, not ${more.length + 1}`)
    else if (mediaType !== undefined && !isJson(mediaType)) {
      problems.push(`${pointer}/content: ${mediaType} is not written, only JSON is`)
    }
  }
  return problems
}
