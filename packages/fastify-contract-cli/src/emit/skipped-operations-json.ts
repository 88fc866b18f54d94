import { METHODS } from 'node:http'
import type { Selector, ServedOperation } from 'fastify-contract/contract'
import { join, resolve } from '../document/json-pointer.ts'
import {
  basePaths,
  type Document,
  itemAt,
  itemPointer,
  locate,
  parametersOf,
  routedPath,
  type Server,
} from '../document/openapi-document.ts'
import { routeKeys, selectorsOf, servedPath } from '../document/parameter-objects.ts'
import { withPathQueries } from '../document/path-queries.ts'
import type { Node } from '../document/walk-document.ts'
import type { Problem } from '../rules/problems.ts'

/** Returns the operations and webhooks that some problems affect, each with its reasons: skipped-operations.json. */
export function skippedOperations(problems: Problem[]): { operation: string; reasons: string[] }[] {
  const reasons = new Map<string, string[]>()
  for (const { pointer, text, operations } of problems) {
    for (const each of operations) reasons.set(each, [...(reasons.get(each) ?? []), `${pointer}: ${text}`])
  }
  return Array.from(reasons, ([operation, reasons]) => ({ operation, reasons }))
}

/**
 * Returns the routes of the operations that some problems affect. Leaves out those that the router cannot distinguish
 * from a route of the served `operations`, or has no method or path for.
 */
export function skippedRoutes(
  document: Document,
  problems: Problem[],
  operations: ServedOperation[],
): ServedOperation[] {
  const taken = new Set<string>()
  for (const each of operations)
    for (const key of routeKeys(each)) taken.add(key).add(key + JSON.stringify(each.selectors))
  const isFree = (key: string) => taken.size < taken.add(key).size
  const routes: ServedOperation[] = []
  for (const { operation } of skippedOperations(problems)) {
    const [, kind = '', path = ''] = /^([A-Z-]+|path) (\/.*)$/s.exec(operation) ?? []
    for (const method of kind === 'path' ? usualMethods : [kind]) routes.push(...routesFor(method, path))
  }
  return routes

  function routesFor(method: string, path: string): ServedOperation[] {
    if (!METHODS.includes(method) || method === 'CONNECT') return []
    const selectors = selectorsAt(document, path, method)
    const routes: ServedOperation[] = []
    for (const base of serversAt(document, path, method)) {
      const route = base + routedPath(path)
      if (!isRoutable(route)) continue
      const one: ServedOperation = { method: method as ServedOperation['method'], servedPaths: [servedPath(route)] }
      const [key = ''] = routeKeys(one)
      if (isFree(key)) routes.push(one)
      else if (selectors.length > 0 && isFree(key + JSON.stringify(selectors))) routes.push({ ...one, selectors })
    }
    return routes
  }
}

/** The methods of a path whose operations are unknown, since its reference has no target. */
const usualMethods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']

/** Returns the selectors of an operation; none if its structure is invalid. */
function selectorsAt(given: Document, path: string, method: string): Selector[] {
  try {
    const document = withPathQueries({ ...given, paths: { [path]: Object(given.paths)[path] } })
    const item = itemAt(document, path)
    const operation = locate<object>(document, join(item.pointer, method.toLowerCase()))
    return selectorsOf(document, { path, parameters: parametersOf(document, item, operation) })
  } catch {
    return []
  }
}

/** Returns the base paths of an operation: those of its first valid servers. Its structure may be invalid. */
function serversAt(document: Document, path: string, method: string): string[] {
  const at = itemPointer(document, join('#', 'paths', path))
  const item = at === undefined ? {} : (resolve(document, at) as Node)
  const held = [Object(item[method.toLowerCase()]).servers, item.servers, document.servers]
  return basePaths((held.find(areServers) as Server[] | undefined) ?? [])
}

const areServers = (servers: unknown): boolean => Array.isArray(servers) && servers.every(isServer)

function isServer(server: unknown): boolean {
  const { url, variables } = Object(server) as Node
  const texts = [url]
  for (const one of Object.values(Object(variables) as Record<string, unknown>)) {
    const { default: value, enum: others = [] } = Object(one) as Node
    texts.push(...[value, others].flat())
  }
  return texts.every((text) => typeof text === 'string')
}

/** Returns whether the router can match a path: its parameters have text between them, and each occurs once. */
function isRoutable(path: string): boolean {
  const names = path.match(/\{[^}]*\}/g) ?? []
  const isPath = /^\/([^{}*?#%]|\{[^{}/]+\}(?!\{))*$/.test(path)
  return isPath && new Set(names).size === names.length
}
