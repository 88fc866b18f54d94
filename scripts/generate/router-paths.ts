import type { ServedPath } from '../../src/openapi/routes.ts'

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

/** Returns the place of a parameter that ends a segment of a path; undefined where it does not, or has others before it. */
export function segmentOf(path: string, name: string): { fromEnd: number; prefix: string } | undefined {
  const segments = path.split('/')
  const index = segments.findIndex((segment) => segment.endsWith(`{${name}}`))
  const prefix = segments[index]?.slice(0, -`{${name}}`.length)
  return prefix === undefined || prefix.includes('{') ? undefined : { fromEnd: segments.length - index, prefix }
}

/** Returns a served path as OpenAPI, Fastify's router and a regular expression have it. */
export function servedPath(path: string): ServedPath {
  const names = routerNames(path)
  const literals = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return {
    path,
    // A colon in a path of OpenAPI is itself.
    url: path.replaceAll(':', '::').replace(template, (_all, name: string) => `:${names.get(name)}`),
    pattern: `^${literals.join('[^/]+')}$`,
  }
}
