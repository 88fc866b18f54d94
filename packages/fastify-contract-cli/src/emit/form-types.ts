import type { Schema } from 'fastify-contract/contract'
import { type FormProperty, formProperties, isFile, mediaTypesOf, openPart, partSchema } from '../document/forms.ts'
import type { Document, MediaType } from '../document/openapi-document.ts'
import { schemasDescribing } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { fileFormat } from '../typescript/schema-types.ts'

/**
 * Returns the schema of a multipart form as an object with the properties that parts have, in which each file is a string
 * with the format `fileFormat`. A handler receives the parts one by one; a client sends them together.
 */
export function typedForm(document: Document, media: MediaType): Node {
  const typeOf = ({ schema, encoding }: FormProperty): Schema => {
    const { isItem, schema: each } = partSchema(document, schema)
    if (!isFile(document, each, mediaTypesOf(encoding))) return schema
    const file: Schema = { type: 'string', format: fileFormat }
    return isItem ? { type: 'array', items: file } : file
  }
  const properties = new Map<string, Schema>()
  for (const property of formProperties(document, media)) properties.set(property.name, typeOf(property))
  const open = openPart(document, media)
  const required = new Set<string>()
  for (const part of schemasDescribing(document, [media.schema], ['allOf']))
    for (const name of (part.required ?? []) as string[]) if (properties.has(name)) required.add(name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
    ...(open && { additionalProperties: typeOf(open) }),
  }
}
