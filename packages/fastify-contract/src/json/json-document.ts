/** A parsed JSON document. Its root is the member `value`, so that the root has a holder and a key like any value. */
export type JsonDocument = {
  value: unknown
  /** The length of its text in characters. */
  length?: number
  /** The text of each number whose double may have a different value, by its object or array, then by its key. */
  digits?: Map<object, Map<string | number, string>>
}

/** Returns the text of a number whose double may have a different value; undefined for any other number. */
export const inexactNumber = ({ digits }: JsonDocument, holder: object, key: string | number): string | undefined =>
  digits?.get(holder)?.get(key)

/** Keeps the text of a number for `inexactNumber`. */
export function keepDigits(document: JsonDocument, holder: object, key: string | number, text: string): void {
  document.digits ??= new Map()
  const kept = document.digits.get(holder)
  if (kept === undefined) document.digits.set(holder, new Map([[key, text]]))
  else kept.set(key, text)
}

/**
 * Copies the digits of one document to another. The only member of `root` becomes the member `key` of `holder` in the
 * new document.
 */
export function copyDigits(
  from: JsonDocument,
  root: object,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  for (const [source, digits] of from.digits ?? []) {
    for (const [member, text] of digits) {
      if (source === root) keepDigits(document, holder, key, text)
      else keepDigits(document, source, member, text)
    }
  }
}
