import type { Operation, Routes } from '../serve/routes.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import { createValidator } from '../serve/validator.ts'

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
