import { ContractError } from '../contract/errors.ts'
import type { Operation, SerializedParameter } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
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
  operation: Operation,
  schema: Schema,
  validator: Validator,
  source: TextSource & { part: SerializedParameter['in'] },
  read = textReader(parametersIn(operation, source.part), source),
): ValidateTexts {
  const { part } = source
  const described = { values: parametersIn(operation, part), part }
  const readValid = validReader(described, read, validator.request(schema, part))
  return readParameters

  function readParameters(texts: Texts): ReturnType<ValidateTexts> {
    try {
      return readValid(texts)
    } catch (error) {
      // Fastify treats an exception of a validator as a failure of the service.
      return { error: error as Error }
    }
  }
}

/** Returns the parameters of an operation in one location. */
export const parametersIn = ({ parameters }: Operation, location: SerializedParameter['in']): SerializedParameter[] =>
  parameters.filter((parameter) => parameter.in === location)

/** Decodes a text of the request target. Throws a ContractError for a text that cannot be decoded. */
export function decodeTarget(text: string, decode: (text: string) => string): string {
  try {
    return decode(text)
  } catch {
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}
