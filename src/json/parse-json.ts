import { type Holder, inexactNumbers } from './inexact-numbers.ts'
import { type JsonDocument, keepDigits } from './json-document.ts'

/**
 * Returns the value of a JSON text as JSON.parse does, with the digits of its inexact numbers. Throws a JsonError for what
 * `inexactNumbers` refuses.
 *
 * The text is checked before anything is built of it, and JSON.parse builds: an array that grows by push costs 17
 * slots, and an object that gets an index key by assignment costs 12 KB in V8.
 */
export function parseJson(text: string): JsonDocument {
  const numbers = inexactNumbers(text)
  const document: JsonDocument = { value: JSON.parse(text), length: text.length }
  for (const { holder, key, text } of numbers) keepDigits(document, objectAt(document, holder), key, text)
  return document
}

function objectAt(document: JsonDocument, place: Holder | undefined): object {
  if (place === undefined) return document
  place.value ??= (objectAt(document, place.holder) as Record<string | number, object>)[place.key] as object
  return place.value
}
