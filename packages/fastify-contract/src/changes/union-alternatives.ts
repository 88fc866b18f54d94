import { join, resolve } from '../compile/json-pointer.ts'
import { isNode } from '../compile/walk-document.ts'
import type { Source } from './merge-sources.ts'
import { isReference, onlyReference } from './schema-references.ts'

/** The name of the member of a document that holds the alternatives of its unions. */
export const alternativesName = 'x-alternatives'

/**
 * Returns a place for an alternative that narrows the schema that it refers to, as with a discriminator. Returns
 * undefined for other alternatives. redocly diff pairs alternatives by their $ref, and those without one by similarity.
 * Without the same $ref in both documents, an edit could make it compare two unrelated alternatives.
 */
export function alternativePlace(document: object, [source]: Source[], at: string, [keyword]: string[]) {
  if (source === undefined || source.shared || (keyword !== 'oneOf' && keyword !== 'anyOf')) return undefined
  const schema = resolve(document, source.pointer)
  const $ref = onlyReference(schema)
  if ($ref === undefined || !isNode(schema) || isReference(schema)) return undefined
  const name = `${at} ${keyword} ${$ref}`
  return { name, pointer: join('#', alternativesName, name) }
}
