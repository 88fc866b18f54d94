import type { Document } from './openapi-document.ts'
import { schemaPrefix } from './shared-schemas.ts'
import { type Node, walkSchemas } from './walk-document.ts'

type Discriminator = { propertyName: string; mapping?: Record<string, string> }

/**
 * Returns a document of OpenAPI 3.1 in which what a discriminator says stands in the schemas that it tells apart: each
 * allows only its own names in that property. These are the schemas of an anyOf or oneOf beside it, and those that take
 * the schema that it stands in into an allOf (OpenAPI 3.1 section 4.8.25).
 */
export function withDiscriminators(document: Document): Document {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const narrowings = new Map<string, Map<string, Set<string>>>()
  const narrow = (schema: string, property: string, names: string[]) => {
    const properties = narrowings.get(schema) ?? new Map<string, Set<string>>()
    narrowings.set(schema, properties.set(property, new Set([...(properties.get(property) ?? []), ...names])))
  }
  const childrenOf = (schema: string) =>
    Object.keys(schemas).filter((child) => referencesOf(schemas[child]?.allOf).includes(schemaPrefix + schema))

  /** Returns the names of a schema and of those below it. */
  function inherit(schema: string, discriminator: Discriminator, above: string[]): string[] {
    if (above.includes(schema)) return []
    const below = childrenOf(schema).flatMap((child) => inherit(child, discriminator, [...above, schema]))
    const names = [...namesOf(schema, discriminator), ...below]
    if (above.length > 0) narrow(schema, discriminator.propertyName, names)
    return names
  }

  walkSchemas(document, ({ discriminator, oneOf, anyOf }, pointer) => {
    if (!isDiscriminator(discriminator)) return
    for (const reference of [...referencesOf(oneOf), ...referencesOf(anyOf)]) {
      const schema = reference.slice(schemaPrefix.length)
      if (schemaPrefix + schema === reference)
        narrow(schema, discriminator.propertyName, namesOf(schema, discriminator))
    }
    if (pointer.startsWith(schemaPrefix)) inherit(pointer.slice(schemaPrefix.length), discriminator, [])
  })
  if (narrowings.size === 0) return document
  const narrowed = Array.from(narrowings, ([name, properties]) => [name, allowing(schemas[name], properties)])
  return {
    ...document,
    components: { ...document.components, schemas: { ...schemas, ...Object.fromEntries(narrowed) } },
  }
}

const isDiscriminator = (value: unknown): value is Discriminator =>
  typeof (value as Partial<Discriminator> | undefined)?.propertyName === 'string'

/** Returns where the schemas of a list refer to. */
const referencesOf = (schemas: unknown): string[] =>
  Array.isArray(schemas) ? schemas.flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])) : []

/** A mapping may refer to a schema or name it; one that is not mapped has its own name. */
function namesOf(schema: string, { mapping = {} }: Discriminator): string[] {
  const names = Object.keys(mapping).filter((name) => [schema, schemaPrefix + schema].includes(mapping[name] as string))
  return names.length > 0 ? names : [schema]
}

const allowing = (schema: Node | boolean | undefined, properties: Map<string, Set<string>>): Node => {
  const given = typeof schema === 'object' ? schema : { allOf: [schema ?? true] }
  const names = Array.from(properties, ([name, values]) => [name, { enum: [...values] }])
  const narrowed = { type: 'object', required: [...properties.keys()], properties: Object.fromEntries(names) }
  return { ...given, allOf: [...((given.allOf ?? []) as unknown[]), narrowed] }
}
