import { isDiscriminator } from '../document/discriminators.ts'
import { join } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { schemaPrefix } from '../document/shared-schemas.ts'
import { type At, isNode, mapDocument, type Node, walkSchemas } from '../document/walk-document.ts'
import { warning } from '../reports/reports.ts'

/**
 * Returns a bundled document in which the values of discriminators are the names that schemas have in their own files,
 * and one warning for each value that stands for several schemas. Without a mapping, a value is the name of a schema
 * (OpenAPI 3.1 section 4.8.25), which the bundler may change, so the document gets a mapping.
 *
 * @param renamed The names of the renamed schemas in their own files.
 */
export function withOwnNames(
  document: Document,
  renamed: Map<string, string>,
): { document: Document; warnings: string[] } {
  const warnings: string[] = []
  if (renamed.size === 0) return { document, warnings }
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const changed = new Map<unknown, Node>()
  walkSchemas(document, addMapping)
  const withMapping = (node: Node) =>
    changed.has(node.discriminator) ? { ...node, discriminator: changed.get(node.discriminator) } : node
  return { document: mapDocument(document, { schema: withMapping }), warnings }

  function addMapping(schema: Node, at: At): void {
    const { discriminator } = schema
    if (!isDiscriminator(discriminator)) return
    const named = new Set([...alternativesOf(schema, schemas), ...childrenOf(at(), schemas)])
    if (![...named].some((name) => renamed.has(name))) return
    const { mapping } = discriminator as { mapping?: Record<string, string> }
    const values = new Map(Object.entries(Object(mapping) as Record<string, string>))
    const targets = new Set([...values.values()].map((target) => String(target).replace(schemaPrefix, '')))
    for (const name of named) {
      // With a mapping, a schema that it does not name keeps its own name as the value.
      if (targets.has(name) || (mapping !== undefined && !renamed.has(name))) continue
      const value = renamed.get(name) ?? name
      const other = values.get(value) ?? (named.has(value) && value !== name && !targets.has(value) ? value : undefined)
      if (other === undefined) values.set(value, `${schemaPrefix}${name}`)
      else {
        const known = String(other).replace(schemaPrefix, '')
        warnings.push(
          warning(
            'ambiguous-discriminator-value',
            join(at(), 'discriminator'),
            `the value "${value}" stands for ${known}, so "${name}" stands for the other schema of that name; add a mapping`,
          ),
        )
        if (mapping === undefined) values.set(name, `${schemaPrefix}${name}`)
      }
    }
    changed.set(discriminator, { ...discriminator, mapping: Object.fromEntries(values) })
  }
}

const namesIn = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap(function nameOf(each) {
    const { $ref } = Object(each) as Node
    return typeof $ref === 'string' && $ref.startsWith(schemaPrefix) ? [$ref.slice(schemaPrefix.length)] : []
  })

/** Returns the names of the alternatives of a schema, and of theirs. */
function alternativesOf(schema: Node, schemas: Record<string, Node>): Set<string> {
  const names = new Set([...namesIn(schema.oneOf), ...namesIn(schema.anyOf)])
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const name of names) {
    const { oneOf, anyOf } = Object(schemas[name]) as Node
    for (const below of [...namesIn(oneOf), ...namesIn(anyOf)]) names.add(below)
  }
  return names
}

/** Returns the names of the schemas that inherit from a shared schema through allOf. */
function childrenOf(pointer: string, schemas: Record<string, Node>): Set<string> {
  const parents = new Set(pointer.startsWith(schemaPrefix) ? [pointer.slice(schemaPrefix.length)] : [])
  const children = new Set<string>()
  for (const parent of parents) {
    for (const [name, schema] of Object.entries(schemas)) {
      if (!isNode(schema) || children.has(name) || !namesIn(schema.allOf).includes(parent)) continue
      children.add(name)
      parents.add(name)
    }
  }
  return children
}
