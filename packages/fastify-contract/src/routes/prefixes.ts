import type { IncomingMessage } from 'node:http'
import { addedPrefix, isPathPrefix } from '../contract/path-prefixes.ts'
import type { Operation, Routes, ServedOperation, ServedPath } from '../contract/routes.ts'
import { decodedOrSame } from '../http/request-head.ts'
import { describedOperations } from './register-routes.ts'
import { operationSelector } from './served-paths.ts'

/** Throws an error that names the first prefix that is not valid, or that contains another one. */
export function checkPrefixes(prefixes: string[]): void {
  if (prefixes.length === 0) throw new Error('contracts has no entry; add one, such as { "/v1": … }')
  for (const prefix of prefixes)
    if (!isPathPrefix(prefix))
      throw new Error(
        `contracts: ${JSON.stringify(prefix)} is not a prefix of paths; use segments of letters, digits and "-._~" with ` +
          'a slash before each, such as "/v1"',
      )
  for (const outer of prefixes)
    for (const inner of prefixes)
      if (inner.startsWith(`${outer}/`))
        throw new Error(`contracts: the prefix "${outer}" contains "${inner}"; use prefixes that do not contain others`)
}

/**
 * Returns a function that returns the start of a request target that is a prefix, which may be percent-encoded; undefined
 * if the target is not below the prefix.
 */
function prefixFinder(prefix: string): (target: string) => string | undefined {
  const segments = new RegExp(`^(?:/[^/?#]*){${prefix.split('/').length - 1}}`)
  return function prefixIn(target) {
    const [start = ''] = segments.exec(target) ?? []
    return decodedOrSame(start) === prefix ? start : undefined
  }
}

/** Returns a function that returns which of some prefixes a request target is below. */
export function prefixOf(prefixes: string[]): (target: string) => string | undefined {
  const finders = prefixes.map((prefix) => ({ prefix, find: prefixFinder(prefix) }))
  return (target) => finders.find(({ find }) => find(target) !== undefined)?.prefix
}

/**
 * Returns a function that does the same as that of `operationSelector`, for the operations below several prefixes.
 * Returns undefined if no operation has selectors.
 */
export function selectorBelow(
  apis: { prefix: string; operations: ServedOperation[] }[],
): ((target: string, request: Pick<IncomingMessage, 'method' | 'headers'>) => string) | undefined {
  const selectors = apis.flatMap(function selectorOf({ prefix, operations }) {
    const select = operationSelector(operations)
    return select === undefined ? [] : [{ find: prefixFinder(prefix), select }]
  })
  if (selectors.length === 0) return undefined
  return function selectTarget(target, request) {
    for (const { find, select } of selectors) {
      const start = find(target)
      if (start !== undefined) return start + select(target.slice(start.length), request)
    }
    return target
  }
}

/** Returns what precedes the paths of routes below a prefix; see `addedPrefix`. */
export function prefixAddedTo(routes: Routes, prefix: string): string {
  const paths = describedOperations(routes).flatMap(({ servedPaths }) => servedPaths.map(({ path }) => path))
  return addedPrefix(paths, prefix)
}

/** Returns the routes of a document for an instance with a prefix, which its paths then do not have. */
export function routesBelow(routes: Routes, prefix: string): Routes {
  if (prefixAddedTo(routes, prefix) === prefix) return routes
  const { operations, skipped = [] } = routes
  const moved = <One extends ServedOperation>(operation: One): One => ({
    ...operation,
    servedPaths: operation.servedPaths.map((served) => pathBelow(served, prefix)),
  })
  return {
    ...routes,
    operations: operations.map((operation) => moved(withLinksBelow(operation, prefix))),
    skipped: skipped.map(moved),
  }
}

/** Returns a path without its first segments, which are those of the prefix. */
function pathBelow({ path, url, pattern }: ServedPath, prefix: string): ServedPath {
  const segments = prefix.split('/').length - 1
  const rest = (text: string) =>
    `/${text
      .split('/')
      .slice(segments + 1)
      .join('/')}`
  return { path: rest(path), url: rest(url), pattern: `^${rest(pattern)}` }
}

/** Returns an operation whose links lead to paths without the prefix. */
function withLinksBelow(operation: Operation, prefix: string): Operation {
  const { responseHeaders } = operation
  if (responseHeaders === undefined) return operation
  const below = Object.entries(responseHeaders).map(([key, headers]) => [
    key,
    headers.map(({ link, ...header }) =>
      link === undefined ? header : { ...header, link: { ...link, path: link.path.slice(prefix.length) } },
    ),
  ])
  return { ...operation, responseHeaders: Object.fromEntries(below) }
}
