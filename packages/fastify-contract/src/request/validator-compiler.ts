import type { FastifySchemaCompiler } from 'fastify'
import type { Operation } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import type { Validator } from '../schema/validator.ts'
import { headerValidator } from './header-parameters.ts'
import { jsonBodyValidator } from './json-body.ts'
import type { ValidateTexts } from './parameters.ts'
import { pathValidator } from './path-parameters.ts'
import { queryValidator } from './query-parameters.ts'

type ParametersValidator = (operation: Operation, schema: Schema, validator: Validator) => ValidateTexts

/** The validators of parameters, by Fastify's names of their locations. */
const parametersValidators: Record<string, ParametersValidator> = {
  params: pathValidator,
  querystring: queryValidator,
  headers: headerValidator,
}

/**
 * Returns Fastify's validator compiler for one operation. A compiled validator converts a body (a JsonDocument), or the
 * texts of the parameters of one location, to the value for the handler, or returns a ContractError. With `isValidated`
 * it accepts every body, because `bodyOf` of the request body validates it.
 */
export function validatorCompiler(
  operation: Operation,
  validator: Validator,
  { isValidated = false }: { isValidated?: boolean } = {},
): FastifySchemaCompiler<unknown> {
  return compile as FastifySchemaCompiler<unknown>

  function compile({ schema, httpPart = 'body' }: { schema: unknown; httpPart?: string }) {
    const parametersValidator = parametersValidators[httpPart]
    if (parametersValidator !== undefined) return parametersValidator(operation, schema as Schema, validator)
    if (isValidated) return acceptsAll
    return jsonBodyValidator(validator.request(schema as Schema, 'body'), operation.bodyRequired)
  }
}

const acceptsAll = () => true
