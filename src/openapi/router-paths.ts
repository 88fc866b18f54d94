import type { Operation } from './routes.ts'

const template = /\{([^}]*)\}/g

/**
 * Returns the names that Fastify's router has for the parameters of a path, by those of the document: the same, or
 * numbers (p0, p1 and so on) where one of them has a character at which the router ends a name.
 */
export function routerNames(path: string): Map<string, string> {
  const names = Array.from(path.matchAll(template), ([, name = '']) => name)
  const areWords = names.every((name) => /^\w+$/.test(name))
  return new Map(names.map((name, index) => [name, areWords ? name : `p${index}`]))
}

/** Returns the path of an operation as Fastify's router has it. */
export function routerPath(servedPath: string, path: string): string {
  const names = routerNames(path)
  // A colon in a path of OpenAPI is itself.
  return servedPath.replaceAll(':', '::').replace(template, (_all, name: string) => `:${names.get(name)}`)
}

/** Returns what finds the methods of the path that a request target names, in the order of the document. */
export function methodFinder(operations: Operation[]): (url: string) => string[] {
  const patterns = operations.flatMap(({ servedPaths, method }) =>
    servedPaths.map((path) => {
      const literal = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return { method: String(method), pattern: new RegExp(`^${literal.join('[^/]+')}$`) }
    }),
  )
  return (url) => {
    const path = decodeURI(url.replace(/[?#].*$/s, ''))
    return patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  }
}
