import type { Schema } from 'fastify-contract/contract'
import { isIgnored, mergeKeywords } from 'fastify-contract/schema'
import type { ResponseCheck } from './check.ts'
import { jsonBody } from './read-body.ts'

export const noWriteOnly: ResponseCheck = {
  name: 'no-write-only',
  summary: 'No response has a property that the document marks as writeOnly.',
  find(exchange, { schemas, ...contract }) {
    const body = jsonBody(exchange, { schemas, ...contract })
    if (body === undefined || 'problem' in body) return undefined
    for (const { value } of body.documents) {
      const pointer = ignoredIn(schemas, [body.schema], value)
      if (pointer !== undefined)
        return {
          expected: 'no writeOnly property',
          got: `the property ${pointer}`,
          kind: pointer.replace(/\/\d+/g, '/*'),
        }
    }
    return undefined
  },
}

/** Returns the pointer to a member that responses ignore, since it is writeOnly; undefined if there is none. */
function ignoredIn(shared: Record<string, Schema>, described: Schema[], value: unknown): string | undefined {
  if (described.length === 0 || typeof value !== 'object' || value === null) return undefined
  const { properties, items, others = [] } = mergeKeywords(shared, described)
  for (const [name, member] of Object.entries(value)) {
    const schemas = Array.isArray(value) ? items : (properties.get(name) ?? others)
    if (schemas.length > 0 && schemas.every(isIgnored)) return `/${name}`
    const below = ignoredIn(shared, schemas, member)
    if (below !== undefined) return `/${name}${below}`
  }
  return undefined
}
