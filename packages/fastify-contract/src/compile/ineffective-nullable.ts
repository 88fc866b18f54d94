import type { Document } from './openapi-document.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/**
 * Returns one line for each `nullable: true` of an OpenAPI 3.0 document that does not allow null, because its schema
 * has no type (3.0.3, "Clarify the semantics of nullable"). Each line says what to write instead.
 */
export function ineffectiveNullables(document: Document): string[] {
  const lines: string[] = []
  if (!document.openapi.startsWith('3.0.')) return lines
  walkSchemas(document, (schema, pointer) => {
    if (schema.nullable !== true || typeof schema.type === 'string') return
    lines.push(`${pointer}: nullable has no effect without a type in the same schema; ${remedyFor(schema)}`)
  })
  return lines
}

/** Returns what to write instead. In an allOf every schema must allow null, so a type beside it would not be enough. */
const remedyFor = (schema: Node): string =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => Object.hasOwn(schema, keyword))
    ? 'to allow null, use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
    : 'to allow null, add the type'
