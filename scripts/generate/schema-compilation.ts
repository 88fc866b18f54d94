import { newAjv } from '../../src/openapi/ajv-instance.ts'
import type { Operation, Routes } from '../../src/openapi/routes.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { mapTree } from './walk-document.ts'

/**
 * Returns one line for each schema that the service could not compile. It compiles a schema when a request first needs
 * it, so a mistake in one must not wait for that request. A schema is compiled without those that it refers to: each
 * mistake is told where it stands, and not again for each reference to it.
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

/** Returns the schemas that stand in an operation. */
function inlineSchemas({ schema: { params, querystring, headers, cookies, body, response } }: Operation): Schema[] {
  const contents = [body?.content, ...Object.values(response).map(({ content }) => content)]
  const ofHeaders = Object.values(response).flatMap(({ headers = {} }) => Object.values(headers))
  const ofBodies = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema))
  return [...[params, querystring, headers, cookies].filter((part) => part !== undefined), ...ofHeaders, ...ofBodies]
}
