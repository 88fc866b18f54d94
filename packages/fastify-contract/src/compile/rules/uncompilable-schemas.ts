import type { Content, Operation, Routes } from '../../serve/routes.ts'
import type { Schema } from '../../serve/schema-keywords.ts'
import { createValidator, newAjv } from '../../serve/validator.ts'
import { mapTree } from '../document/walk-document.ts'

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
      inlineSchemas(operation).flatMap(([part, schema]) =>
        problemOf(`operation ${operation.operationId}, ${part}`, schema),
      ),
    ),
  ]
}

/** Returns the schemas of an operation, each with the part of the operation that it describes. */
function inlineSchemas({ schema }: Operation): [part: string, schema: Schema][] {
  const { params, querystring, headers, cookies, body, response } = schema
  const parameters = { path: params, query: querystring, header: headers, cookie: cookies }
  const named = (part: string, schemas: Record<string, Schema> = {}) =>
    Object.entries(schemas).map(([name, each]): [string, Schema] => [`${part} ${name}`, each])
  const ofContent = (part: string, content: Content = {}) =>
    Object.entries(content).map(([mediaType, media]): [string, Schema] => [`${part} ${mediaType}`, media.schema])
  return [
    ...Object.entries(parameters).flatMap(([kind, each]): [string, Schema][] =>
      each === undefined ? [] : [[`${kind} parameters`, each]],
    ),
    ...Object.entries(response).flatMap(([status, each]) => named(`response ${status} header`, each.headers)),
    ...ofContent('request body', body?.content),
    ...Object.entries(response).flatMap(([status, each]) => ofContent(`response ${status}`, each.content)),
  ]
}

/**
 * Returns one line for each parameter default that its own schema rejects: requests without the parameter would fail.
 */
export function defaultProblems({ operations, schemas }: Routes): string[] {
  const validator = createValidator(schemas)
  return operations.flatMap(({ operationId, parameters, schema }) =>
    parameters.flatMap((parameter) => {
      if (!Object.hasOwn(parameter, 'default')) return []
      const validate = validator.request(schemaOf(schema, parameter), 'its default')
      const result = validate({ value: structuredClone(parameter.default) })
      const place = `operation ${operationId}: parameter ${parameter.name}`
      return 'error' in result ? [`${place}: ${result.error.message}; correct it`] : []
    }),
  )
}

function schemaOf(
  { params, querystring, headers, cookies }: Operation['schema'],
  { in: place, name }: Operation['parameters'][number],
): Schema {
  const holder = { path: params, query: querystring, header: headers, cookie: cookies }[place] as { properties: object }
  return (Object.getOwnPropertyDescriptor(holder.properties, name)?.value as Schema | undefined) ?? true
}
