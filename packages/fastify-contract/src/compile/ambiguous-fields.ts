import type { FormField } from '../serve/routes.ts'
import type { Document, MediaType } from './openapi-document.ts'
import { isReadAlike, otherTypes, propertySchemas } from './property-types.ts'
import { type JsonType, typesOf } from './schema-types.ts'

const isNested = (types: JsonType[]): boolean => types.includes('object') || types.includes('array')

/**
 * Returns the problems of a field that several subschemas of a form describe. The service parses the text of a field
 * before it knows which subschema applies, so all of them must parse it in the same way.
 */
export function ambiguities(document: Document, { schema }: MediaType, { name, kind, part }: FormField): string[] {
  const places = propertySchemas(document, schema, name)
    .map((schemas) => schemas.map((one) => typesOf(document, one)))
    .map((all) => ({ types: all.flatMap(({ types }) => types), items: all.flatMap(({ items }) => items) }))
    .filter(({ types }) => types.length > 0)
  const lists = places.filter(({ types }) => types.includes('array'))
  // In JSON an array is distinct from other values, unless each item is sent as a part of its own.
  const mayVary = kind === 'json' && part === undefined
  if (!mayVary && lists.length > 0 && lists.length < places.length) {
    return ['is an array in one schema and not in another; describe it the same way in each']
  }
  if (kind === 'json' || part?.isFile) return []
  const texts = places.map(({ types, items }) => (types.includes('array') ? items : types))
  return isReadAlike(texts.filter(({ length }) => length > 0))
    ? []
    : [
        'has several types that its text cannot distinguish; describe it the same way in each schema, or give it the contentType application/json',
      ]
}

/** Returns the problems of the fields that the schema of a form does not name: each is read as one string. */
export function openFieldProblems(document: Document, { schema }: MediaType): string[] {
  const all = otherTypes(document, schema)
  if (all.some(isNested))
    return ['fields that the schema does not name are read as strings; name each array and object as a property']
  return isReadAlike(all) ? [] : ['fields that the schema does not name have several types; name each as a property']
}
