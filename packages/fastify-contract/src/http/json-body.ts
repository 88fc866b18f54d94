import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { JsonError } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { ContractError } from './errors.ts'
import type { ParseBody } from './whole-body.ts'

/** Parses strict JSON to a JsonDocument; anything else gets 400. */
export const parseJsonBody: ParseBody = (bytes, done) => {
  let document: JsonDocument
  try {
    document = parseJson(decodeJson(bytes))
  } catch (error) {
    done(new ContractError('notJson', `body is not JSON: ${(error as JsonError).message}`))
    return
  }
  // Outside of the try block, which must not catch errors of the next steps.
  done(null, document)
}
