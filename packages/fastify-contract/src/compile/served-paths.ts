import type { ServedPath } from '../serve/routes.ts'

const template = /\{([^}]*)\}/g

/**
 * Returns the names that Fastify's router uses for the parameters of a path, by the names in the document. They are
 * equal unless one of them has a character that ends a name for the router: then all are numbered (p0, p1, …).
 */
export function routerNames(path: string): Map<string, string> {
  const names = Array.from(path.matchAll(template), ([, name = '']) => name)
  const areWords = names.every((name) => /^\w+$/.test(name))
  return new Map(names.map((name, index) => [name, areWords ? name : `p${index}`]))
}

/** Returns the place of a parameter that is the last and only one of its path segment, or else undefined. */
export function segmentOf(path: string, name: string): { fromEnd: number; prefix: string } | undefined {
  const segments = path.split('/')
  const index = segments.findIndex((segment) => segment.endsWith(`{${name}}`))
  const prefix = segments[index]?.slice(0, -`{${name}}`.length)
  return prefix === undefined || prefix.includes('{') ? undefined : { fromEnd: segments.length - index, prefix }
}

/** Returns a served path in three notations: OpenAPI's, Fastify's, and as a regular expression. */
export function servedPath(path: string): ServedPath {
  const names = routerNames(path)
  const literals = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return {
    path,
    // A colon has no special meaning in OpenAPI; Fastify's router needs it doubled.
    url: path.replaceAll(':', '::').replace(template, (_all, name: string) => `:${names.get(name)}`),
    pattern: `^${literals.join('[^/]+')}$`,
  }
}
