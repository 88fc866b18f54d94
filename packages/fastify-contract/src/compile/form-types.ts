import { requestKindOf } from '../serve/media-types.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import { isFile } from './file-schemas.ts'
import { formProperties, mediaTypesOf, partSchema } from './form-fields.ts'
import type { Document, MediaType } from './openapi-document.ts'
import { schemasDescribing } from './schema-types.ts'
import { mapDocument, type Node } from './walk-document.ts'

/** The format that marks a file in the document from which the types are generated. */
export const fileFormat = 'x-file'

/**
 * Returns a document in which each multipart form is an object with its named properties only, and each file is a
 * string with the format `fileFormat`. A handler receives the parts one by one; a client sends them together.
 */
export const withTypedForms = (document: Document): Document =>
  mapDocument(document, {
    requestBody: (node) => {
      if (node.content === undefined) return node
      const content = Object.entries(node.content as Record<string, MediaType>).map(([mediaType, media]) => [
        mediaType,
        requestKindOf(mediaType) === 'multipart' ? { ...media, schema: typedForm(document, media) } : media,
      ])
      return { ...node, content: Object.fromEntries(content) }
    },
  })

function typedForm(document: Document, media: MediaType): Node {
  const properties = formProperties(document, media).map(({ name, schema, encoding }) => {
    const { isItem, schema: each } = partSchema(document, schema)
    if (!isFile(document, each, mediaTypesOf(encoding))) return [name, schema]
    const file: Schema = { type: 'string', format: fileFormat }
    return [name, isItem ? { type: 'array', items: file } : file]
  })
  const certain = schemasDescribing(document, [media.schema], ['allOf'])
  const required = new Set(certain.flatMap((part) => (part.required ?? []) as string[]))
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required].filter((name) => properties.some(([known]) => known === name)),
  }
}
