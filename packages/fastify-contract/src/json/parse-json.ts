import { inexactNumbers, type ValuePath } from './inexact-numbers.ts'
import { type JsonDocument, keepDigits } from './json-document.ts'

/**
 * Parses a JSON text like JSON.parse, and keeps the digits of its inexact numbers. Throws a JsonError for a text that
 * `inexactNumbers` rejects.
 *
 * The text is checked first and then built by JSON.parse, because in V8 an array that grows by push allocates 17 slots,
 * and an object that gets an index key by assignment allocates 12 KB.
 */
export function parseJson(text: string): JsonDocument {
  const numbers = inexactNumbers(text)
  const document: JsonDocument = { value: JSON.parse(text), length: text.length }
  for (const { holder, key, text: digits } of numbers) keepDigits(document, objectAt(document, holder), key, digits)
  return document
}

/** Returns the object or array at a path, and keeps it in the path for the next number there. */
function objectAt(document: JsonDocument, path: ValuePath | undefined): object {
  if (path === undefined) return document
  path.value ??= (objectAt(document, path.holder) as Record<string | number, object>)[path.key] as object
  return path.value
}
