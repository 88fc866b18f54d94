import type { Operation, SerializedValue } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import type { Validator } from '../schema/validator.ts'
import { parametersValidator, type ValidateTexts } from './parameters.ts'

/** Returns a function that reads and validates the header parameters of an operation. Invalid ones get 400. */
export const headerValidator = (operation: Operation, schema: Schema, validator: Validator): ValidateTexts =>
  parametersValidator(operation, schema, validator, { part: 'header', decode: withoutSpaces })

/** The delimiter of a list in a header may have spaces around it (RFC 9110 section 5.6.1). */
const withoutSpaces = (text: string, { kind }: SerializedValue): string =>
  kind === 'array' || kind === 'object' ? text.trim() : text
