import type { Schema } from './schema-keywords.ts'

/** Keywords that cannot reject an object for a property that no schema names. */
const indifferent = new Set([
  ...['type', 'properties', 'required', '$ref', 'allOf', 'additionalProperties'],
  ...['title', 'description', 'example', 'examples', 'default', 'deprecated', 'externalDocs', 'xml', '$comment'],
])

/**
 * Returns whether the schema of a form may reject the form because of a name that is not one of its fields. It may if
 * it requires such a name, restricts additional properties, or has a keyword that is not listed above.
 */
export function mayRejectNames(schema: Schema, fields: ReadonlySet<string>, shared: Record<string, Schema>): boolean {
  const mayRefuse = (each: Schema): boolean => {
    if (typeof each === 'boolean') return !each
    const { $ref, allOf = [], required = [], additionalProperties = true } = each as Keywords
    return (
      Object.keys(each).some((keyword) => !indifferent.has(keyword)) ||
      additionalProperties !== true ||
      required.some((name) => !fields.has(name)) ||
      ($ref !== undefined && mayRefuse(shared[$ref.slice(0, -1)] as Schema)) ||
      allOf.some(mayRefuse)
    )
  }
  return mayRefuse(schema)
}

type Keywords = { $ref?: string; allOf?: Schema[]; required?: string[]; additionalProperties?: unknown }
