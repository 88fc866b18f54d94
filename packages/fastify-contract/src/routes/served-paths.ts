import type { IncomingMessage } from 'node:http'
import { essenceOf } from '../contract/media-types.ts'
import type { HttpMethod, Selector, ServedOperation, ServedPath } from '../contract/routes.ts'
import { decodedOrSame, parseQuery } from '../http/request-head.ts'

/** Decodes the path of a request target, except encoded delimiters. */
export const decodedPath = (target: string): string => decodeURI(target.replace(/[?#].*$/s, ''))

/**
 * Returns the start of a regular expression that matches the prefix of an instance, which may have parameters, at the
 * start of a path.
 */
export const prefixPattern = (prefix: string): string =>
  `^${prefix.split('/').map(segmentPattern).join('/').replace(/\/$/, '')}`

const segmentPattern = (segment: string): string =>
  segment.startsWith(':') ? '[^/]+' : segment.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** A path of the document with all operations that are served there. */
type Path = { url: string; pattern: RegExp; sample: string; operations: ServedOperation[]; methods: HttpMethod[] }

/** Returns the paths of the operations, in the order of the document. */
function pathsOf(operations: ServedOperation[]): Path[] {
  const paths = new Map<string, Path>()
  for (const operation of operations) {
    for (const { url, pattern, path } of operation.servedPaths) {
      const known = paths.get(pattern) ?? {
        url,
        pattern: new RegExp(pattern),
        sample: sampleOf(path),
        operations: [],
        methods: [],
      }
      paths.set(pattern, known)
      known.operations.push(operation)
      if (!known.methods.includes(operation.method)) known.methods.push(operation.method)
    }
  }
  return [...paths.values()]
}

/** Returns a path with values that no literal path has: a request with U+0000 is rejected. */
const sampleOf = (path: ServedPath['path']): string => path.replace(/\{[^}]*\}/g, '\0')

/** Returns whether all requests of a path match another, more general path, too. */
const isWithin = (path: Path, general: Path): boolean => path !== general && general.pattern.test(path.sample)

/**
 * Returns a function that lists the methods of a request target's path, in the order of the document. A concrete path
 * is matched before a templated one (OpenAPI 3.1 section 4.8.8.1), so only the methods of the most concrete path count.
 * `prefix` is that of the instance that serves the operations.
 */
export function methodFinder(operations: ServedOperation[], prefix = ''): (url: string) => string[] {
  const pathsAt = pathFinder(operations, prefix)
  return (url) => withHead([...new Set(pathsAt(url).flatMap((each) => each.methods))])
}

/** Returns a function that returns the most concrete paths of a request target, as `methodFinder` does. */
export function pathFinder(operations: ServedOperation[], prefix: string): (url: string) => Path[] {
  const paths = pathsOf(operations)
  const before = new RegExp(prefixPattern(prefix))
  return function pathsAt(url) {
    const path = decodedPath(url).replace(before, '')
    const matching = paths.filter(({ pattern }) => pattern.test(path))
    return matching.filter((each) => !matching.some((other) => isWithin(other, each)))
  }
}

/** Adds HEAD, which Fastify serves for each GET (RFC 9110 section 9.3.2). */
const withHead = (methods: HttpMethod[]): HttpMethod[] =>
  methods.includes('HEAD') ? methods : methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : each))

/** Returns the operations of a path that serve a method. Those of GET serve HEAD, too, unless the path has its own. */
const serving = ({ operations, methods }: Path, method: string): ServedOperation[] =>
  operations.filter((each) => each.method === (method === 'HEAD' && !methods.includes(method) ? 'GET' : method))

/** A parameter never contains a slash, so only paths with as many segments can match the same requests. */
const segmentsOf = ({ sample }: Path): number => sample.split('/').length

/**
 * Returns the methods that a path does not have, but a more general path does: Fastify's router would serve a request
 * for the concrete path with the operation of the general one.
 */
export function missingMethods(operations: ServedOperation[]): { url: string; method: HttpMethod[] }[] {
  const paths = pathsOf(operations)
  const templated = new Map<number, Path[]>()
  for (const path of paths.filter(({ sample }) => sample.includes('\0'))) {
    templated.set(segmentsOf(path), [...(templated.get(segmentsOf(path)) ?? []), path])
  }
  return paths.flatMap(function missingAt(path) {
    const general = (templated.get(segmentsOf(path)) ?? []).filter((other) => isWithin(path, other))
    const own = new Set(withHead(path.methods))
    const method = [...new Set(general.flatMap(({ methods }) => withHead(methods)))].filter((each) => !own.has(each))
    return method.length === 0 ? [] : [{ url: path.url, method }]
  })
}

/*
 * Operations may share a method and a path, and differ in the values of their parameters, but the router chooses a route
 * by method and path only: its constraints allow 31 operations on one path. The route of an operation with selectors
 * therefore begins with a segment of its own, which `operationSelector` adds to the targets of its requests.
 */

/** Begins that segment. No request target contains a lone surrogate, even if it is percent-encoded. */
const mark = '\uD800'

/** Returns the URL of an operation's route in the syntax of Fastify's router. */
export function routeUrl({ url }: Pick<ServedPath, 'url'>, selectors: Selector[] = []): string {
  if (selectors.length === 0) return url
  const values = selectors.map((each) => [`${each.in}.${each.name}`, ...(each.texts ?? [])].join('=')).join('&')
  return `/${mark}${values.replace(/[^\w.=&-]/g, (unit) => `~${unit.charCodeAt(0).toString(16)}~`)}${url}`
}

/** Returns a URL or a target without the segment that selects an operation. */
export const withoutMark = (url: string): string => (url[1] === mark ? url.slice(url.indexOf('/', 1)) : url)

/** Returns the same as `withoutMark` for a URL or a target below the prefix of an API, which stands before the segment. */
export function withoutInnerMark(url: string): string {
  const at = url.indexOf(`/${mark}`)
  return at === -1 ? url : url.slice(0, at) + withoutMark(url.slice(at))
}

/**
 * Returns a function that returns the target of a request with the segment of the operation that its parameters select.
 * Of several, that with most selectors is selected, or else the first in the document. Returns undefined if no operation
 * has selectors.
 */
export function operationSelector(
  operations: ServedOperation[],
): ((target: string, request: Pick<IncomingMessage, 'method' | 'headers'>) => string) | undefined {
  const paths = pathsOf(operations)
  const shared = paths
    .filter((path) => path.operations.some(({ selectors }) => selectors !== undefined))
    .map((path) => ({
      pattern: path.pattern,
      within: paths.filter((other) => isWithin(other, path)),
      byMethod: new Map(withHead(path.methods).map((method) => [String(method), selectorsAt(path, method)])),
    }))
  if (shared.length === 0) return undefined
  return function selectTarget(target, { method, headers }) {
    let path: string
    try {
      path = decodedPath(target)
    } catch {
      // The router rejects a path that cannot be decoded.
      return target
    }
    const isMatch = ({ pattern }: { pattern: RegExp }) => pattern.test(path)
    const candidates =
      shared.find((each) => isMatch(each) && !each.within.some(isMatch))?.byMethod.get(String(method)) ?? []
    if (candidates.length === 0) return target
    const query = parseQuery(target.replace(/^[^?]*\??/, ''))
    const isGiven = ({ in: location, name, texts }: Selector): boolean => {
      if (location === 'header') {
        const text = String(headers[name.toLowerCase()])
        return texts?.includes(name === 'Content-Type' ? essenceOf(text) : text) === true
      }
      const given = Object.hasOwn(query, name) ? (query[name] as string[]) : []
      if (texts === undefined) return given.length > 0
      return given.length === 1 && texts.includes(decodedOrSame(given[0] as string))
    }
    const selected = candidates.find((selectors) => selectors.every(isGiven))
    return selected === undefined ? target : routeUrl({ url: target }, selected)
  }
}

/** Returns the selectors of each operation that serves a method of a path and has some, those with most of them first. */
const selectorsAt = (path: Path, method: HttpMethod): Selector[][] =>
  serving(path, method)
    .flatMap(({ selectors }) => (selectors === undefined ? [] : [selectors]))
    .sort((one, other) => other.length - one.length)

/** Returns the methods of each path that only operations with selectors serve, and the names of their parameters. */
export function unselectedMethods(
  operations: ServedOperation[],
): { url: string; method: HttpMethod; parameters: string[] }[] {
  return pathsOf(operations).flatMap(function unselectedAt(path) {
    return withHead(path.methods).flatMap((method) => {
      const selectors = serving(path, method).map((each) => each.selectors)
      const given = selectors.flatMap((each) => each ?? []).map((each) => `${each.in}/${each.name}`)
      return selectors.includes(undefined) ? [] : [{ url: path.url, method, parameters: [...new Set(given)] }]
    })
  })
}
