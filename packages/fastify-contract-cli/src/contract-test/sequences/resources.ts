import { type Endpoint, routedPath } from '../../document/openapi-document.ts'

/** The operations of a resource: one that creates it in a collection, and those at its own path. */
export type Resource = {
  create: Endpoint
  /** The name of the last parameter of the path, whose value tells one resource from others. */
  parameter: string
  read: Endpoint | undefined
  changes: Endpoint[]
  remove: Endpoint | undefined
}

/** Returns the resources of some operations: each path with a parameter at its end, below a path with a POST. */
export function resourcesOf(operations: Endpoint[]): Resource[] {
  const found: Resource[] = []
  for (const create of operations) {
    if (create.method !== 'POST') continue
    const collection = routedPath(create.path).replace(/\/$/, '')
    const items = operations.filter(({ path }) => parentOf(routedPath(path)) === withoutNames(collection))
    const [item] = items
    if (item === undefined) continue
    const ofMethod = (method: string) => items.find((one) => one.method === method)
    found.push({
      create,
      parameter: lastParameter(routedPath(item.path)) as string,
      read: ofMethod('GET'),
      changes: items.filter(({ method }) => method === 'PUT' || method === 'PATCH'),
      remove: ofMethod('DELETE'),
    })
  }
  return found
}

const withoutNames = (path: string): string => path.replace(/\{[^}]*\}/g, '{}')

/** Returns the path before a parameter at the end, without the names of its parameters; undefined without one. */
const parentOf = (path: string): string | undefined => {
  const [, parent] = /^(.*)\/\{[^{}]*\}\/?$/s.exec(path) ?? []
  return parent === undefined ? undefined : withoutNames(parent)
}

const lastParameter = (path: string): string | undefined => /\{([^{}]*)\}\/?$/.exec(path)?.[1]
