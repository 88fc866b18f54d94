import { ContractError, missingBody } from '../contract/errors.ts'
import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'
import type { ValidatePart } from '../schema/validator.ts'

/** Parses JSON; text that is not strict JSON gets 400. Messages call the text `part`. */
export function parseJsonText(text: string | Buffer, part: string): JsonDocument {
  try {
    return parseJson(typeof text === 'string' ? text : decodeJson(text))
  } catch (error) {
    throw new ContractError('notJson', `${part} cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
}

/** Parses a JSON body; undefined for one without any bytes: the validator knows whether it may be missing. */
export const parseJsonBody = (bytes: Buffer): JsonDocument | undefined =>
  bytes.length === 0 ? undefined : parseJsonText(bytes, 'body')

/**
 * Returns a function that validates a JSON body; an invalid one gets 400, and so does a missing one that is required.
 * A body is absent without any bytes; Fastify then passes null. The JSON text `null` stands for an optional body that is
 * absent if its schema rejects null: clients written in Go send it for a nil pointer.
 */
export const jsonBodyValidator =
  (validate: ValidatePart, isRequired = false) =>
  (document: JsonDocument | null | undefined): ReturnType<ValidatePart> => {
    if (!document) return isRequired ? { error: missingBody() } : absent
    const result = validate(document)
    return 'error' in result && document.value === null && !isRequired ? absent : result
  }

const absent = { value: undefined }
