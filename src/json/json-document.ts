/** A parsed JSON document. It holds its root under the key `value`, so that the root has a holder and a key, too. */
export type JsonDocument = {
  value: unknown
  /** The number of characters of its text. */
  length?: number
  /** The text of each number whose double may have another value, by the object or array that holds it and its key. */
  digits?: Map<object, Map<string | number, string>>
}

/** Returns the text of a number whose double may have another value; undefined for any other number. */
export const inexactNumber = ({ digits }: JsonDocument, holder: object, key: string | number): string | undefined =>
  digits?.get(holder)?.get(key)

/** Keeps the text of a number for `inexactNumber`. */
export function keepDigits(document: JsonDocument, holder: object, key: string | number, text: string): void {
  document.digits ??= new Map()
  const kept = document.digits.get(holder)
  if (kept === undefined) document.digits.set(holder, new Map([[key, text]]))
  else kept.set(key, text)
}

/** Keeps the digits of one document in another, into which the one member of `root` goes: there it is `key` of `holder`. */
export function moveDigits(
  from: JsonDocument,
  root: object,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  for (const [at, digits] of from.digits ?? []) {
    for (const [place, text] of digits) {
      if (at === root) keepDigits(document, holder, key, text)
      else keepDigits(document, at, place, text)
    }
  }
}
