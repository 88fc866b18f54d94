import { METHODS } from 'node:http'
import type { HTTPMethods } from 'fastify'
import type { ServedOperation } from '../../serve/contract.ts'
import { basePaths, type Document, itemAt, type Server } from '../document/openapi-document.ts'
import { servedPath } from '../document/parameter-objects.ts'
import type { Problem } from './problems.ts'

/** Returns the operations and webhooks that some problems cost, each with its reasons: skipped-operations.json. */
export function skippedOperations(problems: Problem[]): { operation: string; reasons: string[] }[] {
  const reasons = new Map<string, string[]>()
  for (const { pointer, text, operations } of problems) {
    for (const each of operations) reasons.set(each, [...(reasons.get(each) ?? []), `${pointer}: ${text}`])
  }
  return Array.from(reasons, ([operation, reasons]) => ({ operation, reasons }))
}

/**
 * Returns the routes of the operations that some problems cost. Leaves out those that the router cannot distinguish
 * from a route of the served `operations`, or has no method or path for.
 */
export function skippedRoutes(
  document: Document,
  problems: Problem[],
  operations: ServedOperation[],
): ServedOperation[] {
  const keyOf = (method: string, { pattern }: { pattern: string }) => `${method} ${pattern}`
  const taken = new Set(operations.flatMap(({ method, servedPaths }) => servedPaths.map((each) => keyOf(method, each))))
  const routes = skippedOperations(problems).flatMap(({ operation }) => {
    const [, method = '', path = ''] = /^([A-Z-]+) (\/.*)$/.exec(operation) ?? []
    if (!METHODS.includes(method) || method === 'CONNECT') return []
    const servedPaths = serversAt(document, path, method)
      .map((base) => base + path)
      .filter(isRoutable)
      .map(servedPath)
      .filter((each) => !taken.has(keyOf(method, each)))
    for (const each of servedPaths) taken.add(keyOf(method, each))
    return servedPaths.length === 0 ? [] : [{ method: method as HTTPMethods, servedPaths }]
  })
  return routes
}

/** Returns the base paths of an operation. Its structure may be invalid, but that of the document's servers is not. */
function serversAt(document: Document, path: string, method: string): string[] {
  const item = itemAt(document, path) as Record<string, unknown>
  const own = [Object(item[method.toLowerCase()]).servers, item.servers].find(Array.isArray) as unknown[] | undefined
  const areServers = own?.every((one) => typeof Object(one).url === 'string' && Object(one).variables === undefined)
  return basePaths(areServers ? (own as Server[]) : (document.servers ?? []))
}

/** Returns whether the router can match a path: each parameter fills its segment, and occurs once. */
function isRoutable(path: string): boolean {
  const names = path.match(/\{[^}]*\}/g) ?? []
  return /^(\/(\{[^}/]+\}|[^{}*?#%/]*))+$/.test(path) && new Set(names).size === names.length
}
