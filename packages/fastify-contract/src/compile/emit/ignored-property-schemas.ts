import { isIgnored } from '../../serve/exact-keywords.ts'
import type { Schema } from '../../serve/schema-keywords.ts'
import type { Node } from '../document/walk-document.ts'

/** Returns a schema without its ignored properties, and without `properties` if none are left. */
export function withoutIgnoredProperties(schema: Node): Node {
  const all = Object.entries(Object(schema.properties) as Record<string, Schema>)
  const kept = all.filter(([, each]) => !isIgnored(each))
  if (kept.length === all.length) return schema
  const { properties: _, ...rest } = schema
  return kept.length === 0 ? rest : { ...rest, properties: Object.fromEntries(kept) }
}
