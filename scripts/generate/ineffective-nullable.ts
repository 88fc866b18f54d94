import type { Document } from './openapi-document.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/**
 * Returns one line for each nullable of an OpenAPI 3.0 document that allows no null, because no type stands beside it
 * (3.0.3, "Clarify the semantics of nullable"), with what to write instead.
 */
export function ineffectiveNullables(document: Document): string[] {
  const lines: string[] = []
  if (!document.openapi.startsWith('3.0.')) return lines
  walkSchemas(document, (schema, pointer) => {
    if (schema.nullable !== true || typeof schema.type === 'string') return
    lines.push(`${pointer}: nullable has no effect without a type beside it; ${remedyFor(schema)}`)
  })
  return lines
}

/** Of an allOf, each schema must allow null, so a type beside it would not be enough. */
const remedyFor = (schema: Node): string =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => Object.hasOwn(schema, keyword))
    ? 'to allow null, use anyOf: of the schema, and of { type: object, nullable: true, enum: [null] }'
    : 'to allow null, give the type, too'
