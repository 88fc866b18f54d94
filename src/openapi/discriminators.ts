import type { Document } from './document.ts'

type Node = { [key: string]: unknown; $ref?: string; allOf?: Node[]; oneOf?: Node[]; anyOf?: Node[] }
type Discriminator = { propertyName: string; mapping?: Record<string, string> }

const prefix = '#/components/schemas/'

/**
 * Takes a document of OpenAPI 3.1; gives one in which what a discriminator says stands in the schemas that it tells
 * apart: each allows only its own names in that property. These are the schemas of an anyOf or oneOf beside it, and
 * those that take the schema that it stands in into an allOf (OpenAPI 3.1 section 4.8.25).
 */
export function withDiscriminators(document: Document): Document {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const narrowings = new Map<string, Map<string, Set<string>>>()
  const narrow = (schema: string, property: string, names: string[]) => {
    const properties = narrowings.get(schema) ?? new Map<string, Set<string>>()
    narrowings.set(schema, properties.set(property, new Set([...(properties.get(property) ?? []), ...names])))
  }
  const childrenOf = (schema: string) =>
    Object.keys(schemas).filter((child) => schemas[child]?.allOf?.some(({ $ref }) => $ref === prefix + schema))

  /** Gives the names of a schema and of those below it. */
  function inherit(schema: string, discriminator: Discriminator, above: string[]): string[] {
    if (above.includes(schema)) return []
    const below = childrenOf(schema).flatMap((child) => inherit(child, discriminator, [...above, schema]))
    const names = [...namesOf(schema, discriminator), ...below]
    if (above.length > 0) narrow(schema, discriminator.propertyName, names)
    return names
  }

  for (const { discriminator, oneOf, anyOf, place } of discriminated(document, '#')) {
    for (const { $ref = '' } of [...(oneOf ?? []), ...(anyOf ?? [])]) {
      const schema = $ref.slice(prefix.length)
      if (prefix + schema === $ref) narrow(schema, discriminator.propertyName, namesOf(schema, discriminator))
    }
    if (place.startsWith(prefix)) inherit(place.slice(prefix.length), discriminator, [])
  }
  if (narrowings.size === 0) return document
  const narrowed = Array.from(narrowings, ([name, properties]) => [name, allowing(schemas[name] as Node, properties)])
  return {
    ...document,
    components: { ...document.components, schemas: { ...schemas, ...Object.fromEntries(narrowed) } },
  }
}

/** A mapping may refer to a schema or name it; one that is not mapped has its own name. */
function namesOf(schema: string, { mapping = {} }: Discriminator): string[] {
  const names = Object.keys(mapping).filter((name) => [schema, prefix + schema].includes(mapping[name] as string))
  return names.length > 0 ? names : [schema]
}

const allowing = (schema: Node, properties: Map<string, Set<string>>): Node => ({
  ...schema,
  allOf: [
    ...(schema.allOf ?? []),
    {
      type: 'object',
      required: [...properties.keys()],
      properties: Object.fromEntries(Array.from(properties, ([name, names]) => [name, { enum: [...names] }])),
    },
  ],
})

type Discriminated = Node & { discriminator: Discriminator; place: string }

/** Every schema with a discriminator, wherever it stands. */
function discriminated(node: unknown, place: string): Discriminated[] {
  if (typeof node !== 'object' || node === null) return []
  const below = Object.entries(node).flatMap(([key, value]) => discriminated(value, `${place}/${key}`))
  const { discriminator } = node as { discriminator?: Partial<Discriminator> }
  return typeof discriminator?.propertyName === 'string' ? [{ ...node, place } as Discriminated, ...below] : below
}
