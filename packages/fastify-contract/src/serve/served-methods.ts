import type { HTTPMethods } from 'fastify'
import type { Operation, ServedPath } from './routes.ts'

/** A path of the document with all methods that are served there. */
type Path = { url: string; pattern: RegExp; sample: string; methods: HTTPMethods[] }

/** Returns the paths of the operations, in the order of the document. */
function pathsOf(operations: Operation[]): Path[] {
  const paths = new Map<string, Path>()
  for (const { servedPaths, method } of operations) {
    for (const { url, pattern, path } of servedPaths) {
      if (!paths.has(pattern))
        paths.set(pattern, { url, pattern: new RegExp(pattern), sample: sampleOf(path), methods: [] })
      paths.get(pattern)?.methods.push(method)
    }
  }
  return [...paths.values()]
}

/** Returns a path with values that no literal path has: U+0000 is refused in requests. */
const sampleOf = (path: ServedPath['path']): string => path.replace(/\{[^}]*\}/g, '\0')

/** Returns whether all requests of a path match another, more general path, too. */
const isWithin = (path: Path, general: Path): boolean => path !== general && general.pattern.test(path.sample)

/**
 * Returns a function that lists the methods of a request target's path, in the order of the document. A concrete path
 * is matched before a templated one (OpenAPI 3.1 section 4.8.8.1), so only the methods of the most concrete path count.
 */
export function methodFinder(operations: Operation[]): (url: string) => string[] {
  const paths = pathsOf(operations)
  return (url) => {
    const path = decodeURI(url.replace(/[?#].*$/s, ''))
    const matching = paths.filter(({ pattern }) => pattern.test(path))
    const concrete = matching.filter((each) => !matching.some((other) => isWithin(other, each)))
    return withHead(concrete.flatMap((each) => each.methods))
  }
}

/** Adds HEAD, which Fastify serves for each GET (RFC 9110 section 9.3.2). */
const withHead = (methods: HTTPMethods[]): HTTPMethods[] =>
  methods.includes('HEAD') ? methods : methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : each))

/** A parameter never contains a slash, so only paths with as many segments can match the same requests. */
const segmentsOf = ({ sample }: Path): number => sample.split('/').length

/**
 * Returns the methods that a path does not have, but a more general path does: Fastify's router would serve a request
 * for the concrete path with the operation of the general one.
 */
export function missingMethods(
  operations: Operation[],
): { url: string; method: HTTPMethods[]; exposeHeadRoute: false }[] {
  const paths = pathsOf(operations)
  const templated = new Map<number, Path[]>()
  for (const path of paths.filter(({ sample }) => sample.includes('\0'))) {
    templated.set(segmentsOf(path), [...(templated.get(segmentsOf(path)) ?? []), path])
  }
  return paths.flatMap((path) => {
    const general = (templated.get(segmentsOf(path)) ?? []).filter((other) => isWithin(path, other))
    const own = new Set(withHead(path.methods))
    const method = [...new Set(general.flatMap(({ methods }) => withHead(methods)))].filter((each) => !own.has(each))
    return method.length === 0 ? [] : [{ url: path.url, method, exposeHeadRoute: false as const }]
  })
}
