import { type Schema, schemasIn } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { numbersOf } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'

/** The maximum number of items of an array, and of undescribed names of an object. */
export const maxArrayItems = 100

/** Returns a schema that demands all of the given ones. */
export const together = (schemas: Schema[]): Schema =>
  schemas.length === 1 ? (schemas[0] as Schema) : { allOf: schemas }

/**
 * Returns items that satisfy all schemas of an array if possible: those of `prefixItems`, as many as each `contains`
 * demands, and others up to `minItems`; one if the schemas describe items.
 *
 * @param make Returns a value of a schema, which differs from variant to variant if possible.
 */
export function exampleItems(schemas: Node[], make: (schema: Schema, variant: number) => unknown): unknown[] {
  const first = schemas.flatMap((schema) => schemasIn(schema, 'prefixItems'))
  const others = schemas.flatMap((schema) => schemasIn(schema, 'items'))
  const most = Math.min(...numbersOf(schemas, 'maxItems'), maxArrayItems)
  const described = [...first]
  for (const schema of schemas) {
    const count = Math.min(numbersOf([schema], 'minContains')[0] ?? 1, most)
    for (const one of schemasIn(schema, 'contains'))
      described.push(...Array<Schema>(count).fill(together([...others, one])))
  }
  const least = Math.max(described.length, ...numbersOf(schemas, 'minItems'), others.length > 0 ? 1 : 0)
  const areDistinct = schemas.some(({ uniqueItems }) => uniqueItems === true)
  const seen = new Set<string | undefined>()
  const items: unknown[] = []
  for (let index = 0; index < Math.min(least, most); index++) {
    const schema = described[index] ?? together(others)
    const value = make(schema, 0)
    const item = !areDistinct || isNew(value) ? value : otherValue(schema, index)
    if (areDistinct) seen.add(stringifyJson(item))
    if (item !== undefined) items.push(item)
  }
  return items

  function isNew(value: unknown): boolean {
    return !seen.has(stringifyJson(value))
  }

  /** Most schemas give a new value at once, since the items before have the variants before. */
  function otherValue(schema: Schema, index: number): unknown {
    for (const variant of [index, index + 1, 1, 2]) {
      const value = make(schema, variant)
      if (value !== undefined && isNew(value)) return value
    }
    return undefined
  }
}
