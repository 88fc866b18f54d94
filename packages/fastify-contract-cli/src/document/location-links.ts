import type { LocationLink } from 'fastify-contract/contract'
import { join, normalized, resolve } from './json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  locate,
  named,
  type Response,
} from './openapi-document.ts'
import { servedPath } from './parameter-objects.ts'
import { isNode } from './walk-document.ts'

type Link = { operationId?: string; operationRef?: string; parameters?: Record<string, unknown> }

/**
 * Returns the link of a response that leads to the resource in its header Location: the first one to a GET whose path
 * parameters are all values of the link. Undefined if the response does not declare Location, or has no such link.
 */
export function locationLink(document: Document, { pointer, headers }: Located<Response>): LocationLink | undefined {
  if (!Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'location')) return undefined
  const { links } = Object(resolve(document, pointer)) as { links?: unknown }
  for (const name of isNode(links) ? named(links) : []) {
    const link = locate<Link>(document, join(pointer, 'links', name))
    const { operationId, operationRef = '' } = link
    const target = normalized(operationRef)
    const operation = endpoints(document).find((each) =>
      operationId === undefined ? target === each.pointer : operationId === each.operationId,
    )
    const found = operation && linkTo(operation, link)
    if (found !== undefined) return found
  }
  return undefined
}

function linkTo({ method, routes, parameters }: Endpoint, link: Link): LocationLink | undefined {
  const [route] = routes
  if (method !== 'GET' || route === undefined) return undefined
  const values: LocationLink['values'] = {}
  for (const { name, in: place, required, style = 'simple', content } of parameters) {
    if (place !== 'path' && required) return undefined
    if (place !== 'path') continue
    const value = link.parameters?.[`path.${name}`] ?? link.parameters?.[name]
    if (typeof value !== 'string' || style !== 'simple' || content !== undefined) return undefined
    values[name] = value
  }
  return { path: servedPath(route).path, values }
}
