import { acceptQuery } from '../contract/media-types.ts'
import type { Operation, ServedOperation } from '../contract/routes.ts'
import type { Guard } from '../http/request-guards.ts'
import { pathFinder, withoutInnerMark, withoutMark } from './served-paths.ts'

/**
 * Returns a guard that adds Accept-Query to each response of a path with a QUERY operation (RFC 10008 section 3), also to
 * a 405; undefined if there is no such operation. `prefix` is that of the instance that serves the operations.
 */
export function queryAnnouncement(operations: ServedOperation[], prefix: string): Guard | undefined {
  const byPattern = new Map<string, string[]>()
  for (const operation of operations.filter(isQuery))
    for (const { pattern } of operation.servedPaths)
      byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), ...mediaTypesOf(operation)])
  if (byPattern.size === 0) return undefined
  // Spares most requests the search for their path.
  const byUrl = new Map<string, string>()
  for (const { url, pattern } of operations.flatMap(({ servedPaths }) => servedPaths))
    byUrl.set(prefix + url, acceptQuery(byPattern.get(pattern) ?? []))
  const unmark = prefix === '' ? withoutMark : withoutInnerMark
  const pathsAt = pathFinder(operations, prefix)
  const typesAt = (target: string) =>
    pathsAt(target).flatMap((path) => path.operations.filter(isQuery).flatMap(mediaTypesOf))
  return function announceQuery({ is404, raw, routeOptions }, reply) {
    const value = is404 ? acceptQuery(typesAt(raw.url as string)) : byUrl.get(unmark(routeOptions.url as string))
    if (value) reply.header('accept-query', value)
    return undefined
  }
}

/** Returns whether an operation is a QUERY that is served: one that `generate` skipped has no schema. */
const isQuery = (operation: ServedOperation): operation is Operation =>
  operation.method === 'QUERY' && 'schema' in operation

/** `generate` rejects a QUERY without a body. */
const mediaTypesOf = ({ schema }: Operation): string[] => Object.keys(schema.body?.content as object)
