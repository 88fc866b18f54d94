import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Operation, Routes } from '../../src/openapi/routes.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'

/**
 * Returns one line for each schema that Ajv cannot compile. The service compiles a schema when a request first needs it,
 * so a mistake in one must not wait for that request.
 */
export function uncompilableSchemas({ operations, schemas }: Routes): string[] {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false })
  addFormats.default(ajv)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema as object, name)
  const problemOf = (place: string, schema: Schema): string[] => {
    try {
      ajv.compile(schema as object)
      return []
    } catch (error) {
      return [`${place}: ${(error as Error).message}; correct the schema`]
    }
  }
  return [
    ...Object.keys(schemas).flatMap((name) => problemOf(`schema ${name}`, { $ref: `${name}#` })),
    ...operations.flatMap((operation) =>
      inlineSchemas(operation).flatMap((schema) => problemOf(`operation ${operation.operationId}`, schema)),
    ),
  ]
}

/** Returns the schemas of an operation that may be other than a reference to a shared one. */
function inlineSchemas({ schema: { params, querystring, headers, cookies, body, response } }: Operation): Schema[] {
  const contents = [body?.content, ...Object.values(response).map(({ content }) => content)]
  const ofBodies = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema))
  return [...[params, querystring, headers, cookies].filter((part) => part !== undefined), ...ofBodies]
}
