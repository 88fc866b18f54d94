import type { FormField } from '../../src/openapi/routes.ts'
import type { Document, MediaType } from './openapi-document.ts'
import { isReadAlike, otherTypes, propertySchemas } from './property-types.ts'
import { type JsonType, typesOf } from './schema-types.ts'

const isNested = (types: JsonType[]): boolean => types.includes('object') || types.includes('array')

/**
 * Returns what is wrong with a field that several places of a form's schema describe: it is read before anything tells which
 * of them counts, so that its texts must be read alike by each.
 */
export function ambiguities(document: Document, { schema }: MediaType, { name, kind, part }: FormField): string[] {
  const places = propertySchemas(document, schema, name)
    .map((schemas) => schemas.map((one) => typesOf(document, one)))
    .map((all) => ({ types: all.flatMap(({ types }) => types), items: all.flatMap(({ items }) => items) }))
    .filter(({ types }) => types.length > 0)
  const lists = places.filter(({ types }) => types.includes('array'))
  // JSON tells a list from anything else, unless each item is a part of its own.
  const mayVary = kind === 'json' && part === undefined
  if (!mayVary && lists.length > 0 && lists.length < places.length) {
    return ['is a list in one place and not in another; describe it alike in each']
  }
  if (kind === 'json' || part?.isFile) return []
  const texts = places.map(({ types, items }) => (types.includes('array') ? items : types))
  return isReadAlike(texts.filter(({ length }) => length > 0))
    ? []
    : [
        'has several types that no text tells apart; describe it alike in each place, or give it the contentType application/json',
      ]
}

/** Returns what is wrong with the fields of a form that its schema does not name: each is read as one text. */
export function openFieldProblems(document: Document, { schema }: MediaType): string[] {
  const all = otherTypes(document, schema)
  if (all.some(isNested)) return ['a field that is not named is a text; name each list and object as a property']
  return isReadAlike(all) ? [] : ['fields that are not named have several types; name each as a property']
}
