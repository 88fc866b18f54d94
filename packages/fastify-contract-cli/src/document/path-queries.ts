import {
  type Document,
  itemAt,
  type Parameter,
  type PathPair,
  pathQuery,
  resolved,
  routedPath,
} from './openapi-document.ts'
import { isNode, mapEntries, methods, type Node } from './walk-document.ts'

/**
 * Returns a document in which required query parameters describe the query of a path, such as
 * `/jobs?op=list&after={id}`, since a request is routed without it. The paths and the positions of their parameters stay,
 * so that problems are reported with the pointers of the document.
 */
export function withPathQueries(document: Document): Document {
  const paths = mapEntries(document.paths ?? {}, (item, path) => withQuery(document, path, item as Node))
  return paths === document.paths ? document : { ...document, paths: paths as Record<string, object> }
}

/** Returns the path item of a path with parameters that describe the query of the path. */
function withQuery(document: Document, path: string, given: Node): Node {
  const pairs = path.startsWith('/') ? pathQuery(path) : []
  if (pairs.length === 0) return given
  const { pointer: _, ...item } = itemAt(document, path) as Node
  const { $ref: __, ...own } = given
  const all = mapEntries({ ...item, ...own }, withOwnQuery)
  const parameters = inQuery(all.parameters)
  for (const pair of pairs)
    if (!parameters.some((one) => one.in === 'query' && one.name === pair.name)) parameters.push(describedBy(pair))
  return { ...all, parameters }

  function withOwnQuery(operation: unknown, name: string): unknown {
    return methods.includes(name) && isNode(operation) && operation.parameters !== undefined
      ? { ...operation, parameters: inQuery(operation.parameters) }
      : operation
  }

  function inQuery(parameters: unknown): Node[] {
    const found: Node[] = []
    for (const one of [parameters ?? []].flat() as Node[])
      found.push((queryParameter(resolved<Parameter>(document, one), path, pairs) as Node | undefined) ?? one)
    return found
  }
}

/** Returns a parameter that the query of a path names as a required parameter of the query; undefined for others. */
function queryParameter(parameter: Parameter, path: string, pairs: PathPair[]): Parameter | undefined {
  const { in: location, name } = parameter
  const isFilled = location === 'path' && !routedPath(path).includes(`{${name}}`)
  const pair = pairs.find((each) => (isFilled ? each.parameter === name : location === 'query' && each.name === name))
  if (pair === undefined) return undefined
  const { style: _, explode: __, content: ___, ...described } = parameter
  return pair.parameter === undefined
    ? { ...described, ...describedBy(pair) }
    : { ...parameter, in: 'query', name: pair.name, required: true }
}

/** Returns the parameter for a pair of the query of a path. */
const describedBy = ({ name, value, parameter }: PathPair): Parameter => ({
  name,
  in: 'query',
  required: true,
  ...(value === '' && { allowEmptyValue: true }),
  schema: { type: 'string', ...(parameter === undefined && { enum: [value] }) },
})
