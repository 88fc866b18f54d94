import type { SerializedParameter } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { ContractError } from '../http/errors.ts'
import type { Validator } from '../schema/validator.ts'
import { type TextSource, textReader, validReader } from './text-reader.ts'
import type { Texts } from './text-values.ts'

/** Reads and validates the parameters of one location. The error of invalid ones is a ContractError with status 400. */
export type ValidateTexts = (texts: Texts) => { value: unknown } | { error: Error }

/**
 * Returns a function that reads and validates the parameters of one location. `source` names the location in messages
 * and decodes its texts; `read` converts the texts to values.
 */
export function parametersValidator(
  parameters: SerializedParameter[],
  schema: Schema,
  validator: Validator,
  source: TextSource,
  read = textReader(parameters, source),
): ValidateTexts {
  const { part } = source
  const readValid = validReader({ values: parameters, part }, read, validator.request(schema, part))
  return (texts) => {
    try {
      return readValid(texts)
    } catch (error) {
      // Fastify treats an exception of a validator as a failure of the service.
      return { error: error as Error }
    }
  }
}

/** Decodes a text of the request target. Throws a ContractError for a text that cannot be decoded. */
export function decodeTarget(text: string, decode: (text: string) => string): string {
  try {
    return decode(text)
  } catch {
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}
