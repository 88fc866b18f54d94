import type { FastifySchemaCompiler } from 'fastify'
import type { JsonDocument } from '../json/json-document.ts'
import type { Texts } from './parameter-values.ts'
import { parameterReader } from './parameters.ts'
import type { Operation, ParameterText } from './routes.ts'
import type { Schema } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

/** OpenAPI's parameter locations by Fastify's names for them. */
const locations: Record<string, ParameterText['in']> = { params: 'path', querystring: 'query', headers: 'header' }

/**
 * Returns Fastify's validator compiler for one operation. A compiled validator converts a body (a JsonDocument), or the
 * texts of the parameters of one location, to the value for the handler, or returns a ContractError. With `isValidated`
 * it accepts every body, because request-body.ts validates bodies.
 */
export function partValidatorCompiler(
  operation: Operation,
  validator: Validator,
  { isValidated = false }: { isValidated?: boolean } = {},
): FastifySchemaCompiler<unknown> {
  return ({ schema, httpPart = 'body' }) => {
    const location = locations[httpPart]
    if (location === undefined && isValidated) return () => true
    if (location === undefined) return validator.request(schema as Schema, 'body') as never
    return parametersValidator(operation, location, schema as Schema, validator) as never
  }
}

/** Returns a function that reads and validates the parameters of one location, such as the query. */
export function parametersValidator(
  { parameters }: Operation,
  location: ParameterText['in'],
  schema: Schema,
  validator: Validator,
) {
  const read = parameterReader(parameters, location)
  const validate = validator.request(schema, location)
  return (texts: Texts): { value: unknown } | { error: Error } => {
    let document: JsonDocument
    try {
      document = read(texts)
    } catch (error) {
      // Fastify treats an exception of a validator as a failure of the service.
      return { error: error as Error }
    }
    return validate(document)
  }
}
