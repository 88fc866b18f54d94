import { ContractError } from '../contract/errors.ts'
import { decodeJson } from '../json/decode-json.ts'

/**
 * Decodes UTF-8 text as strictly as JSON. NUL is not allowed, because some stores truncate a text there. Throws a
 * ContractError that names `part`.
 */
export function decodeUtf8(bytes: Buffer, part: string): string {
  let text: string
  try {
    text = decodeJson(bytes)
  } catch {
    throw new ContractError('invalid', `${part} is not UTF-8`)
  }
  if (text.includes('\0')) throw new ContractError('invalid', `${part} contains the character U+0000`)
  return text
}
