import { isDeepStrictEqual } from 'node:util'
import type { Schema } from 'fastify-contract/contract'
import type { Node } from '../document/walk-document.ts'

/** Returns the schemas that apply because of the members of an example: of `then`, and of `dependentSchemas`. */
export function conditionalSchemas(schemas: Node[], value: object): Schema[] {
  const found = thenSchemas(schemas, value)
  for (const { dependentSchemas } of schemas)
    for (const [name, schema] of Object.entries(Object(dependentSchemas) as Record<string, Schema>))
      if (Object.hasOwn(value, name)) found.push(schema)
  return found
}

/** Returns the `then` schema of the first `if` that lists, in `enum` or `const`, a value that a member has. */
function thenSchemas(schemas: Node[], value: object): Schema[] {
  const listed = (below: Node): unknown[] => (Object.hasOwn(below, 'const') ? [below.const] : [below.enum].flat())
  const holds = (condition: unknown) =>
    Object.entries(Object(Object(condition).properties) as Record<string, unknown>).some(
      ([name, below]) =>
        Object.hasOwn(value, name) &&
        listed(Object(below)).some((one) => isDeepStrictEqual(one, (value as Record<string, unknown>)[name])),
    )
  const found = schemas.find((schema) => schema.then !== undefined && holds(schema.if))
  return found === undefined ? [] : [found.then as Schema]
}

/** Returns the names that `dependentRequired` demands because of these members, also of one another. */
export function demandedNames(schemas: Node[], members: ReadonlyMap<string, unknown>): string[] {
  const names = new Set(members.keys())
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const name of names) {
    for (const { dependentRequired } of schemas) {
      const others: unknown = Object.hasOwn(Object(dependentRequired), name) ? Object(dependentRequired)[name] : []
      for (const other of others as string[]) names.add(other)
    }
  }
  return [...names]
}
