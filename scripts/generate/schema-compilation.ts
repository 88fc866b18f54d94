import { newAjv } from '../../src/openapi/ajv-instance.ts'
import type { Operation, Routes } from '../../src/openapi/routes.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { mapTree } from './walk-document.ts'

/**
 * Returns one line for each schema that the service could not compile. The service compiles a schema only when a
 * request first needs it, so a mistake is reported here. Each schema is compiled without the schemas that it refers to,
 * so that each mistake is reported once, at its own place.
 */
export function uncompilableSchemas({ operations, schemas }: Routes): string[] {
  const ajv = newAjv({}, [], { allErrors: false })
  const problemOf = (place: string, schema: Schema): string[] => {
    try {
      ajv.compile(mapTree(schema, 'schema', { schema: ({ $ref: _, ...rest }) => rest }) as object)
      return []
    } catch (error) {
      return [`${place}: ${(error as Error).message}; correct the schema`]
    }
  }
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => problemOf(`schema ${name}`, schema)),
    ...operations.flatMap((operation) =>
      inlineSchemas(operation).flatMap((schema) => problemOf(`operation ${operation.operationId}`, schema)),
    ),
  ]
}

/** Returns the schemas of an operation: parameters, bodies and response headers. */
function inlineSchemas({ schema: { params, querystring, headers, cookies, body, response } }: Operation): Schema[] {
  const contents = [body?.content, ...Object.values(response).map(({ content }) => content)]
  const ofHeaders = Object.values(response).flatMap(({ headers = {} }) => Object.values(headers))
  const ofBodies = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema))
  return [...[params, querystring, headers, cookies].filter((part) => part !== undefined), ...ofHeaders, ...ofBodies]
}
