import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { JsonError } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { ContractError } from './errors.ts'
import type { ParseBody } from './whole-body.ts'

/** Parses strict JSON to a JsonDocument: 400 for what is not JSON. */
export const parseJsonBody: ParseBody = (bytes, done) => {
  let document: JsonDocument
  try {
    document = parseJson(decodeJson(bytes))
  } catch (error) {
    done(new ContractError('notJson', `body is not JSON: ${(error as JsonError).message}`))
    return
  }
  // Errors of the steps that follow are not this parser's to catch.
  done(null, document)
}
