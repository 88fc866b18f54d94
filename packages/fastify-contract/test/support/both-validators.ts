import { deepStrictEqual } from 'node:assert'
import type { Routes } from '../../src/contract/routes.ts'
import { loadSchemaCode, schemaCode } from '../../src/schema/schema-code.ts'
import { createValidator, type Validator } from '../../src/schema/validator.ts'

/**
 * Returns a validator that runs the generated code of the schemas and the schemas compiled at their first use. It throws
 * if their results differ.
 */
export function bothValidators(routes: Routes): Validator {
  const generated = createValidator(routes.schemas, loadSchemaCode(schemaCode(routes), routes))
  const compiled = createValidator(routes.schemas)
  const both =
    <Value, Result>(run: (value: Value) => Result, other: (value: Value) => Result) =>
    (value: Value): Result => {
      const copy = structuredClone(value)
      const [result, expected] = [settled(() => run(value)), settled(() => other(copy))]
      deepStrictEqual(result, expected)
      if ('thrown' in result) throw result.thrown
      return result.value
    }
  return {
    request: (schema, part) => both(generated.request(schema, part), compiled.request(schema, part)),
    converter: (schema) => both(generated.converter(schema), compiled.converter(schema)),
    problem: (schema, part) => both(generated.problem(schema, part), compiled.problem(schema, part)),
    response: (schema, part) => both(generated.response(schema, part), compiled.response(schema, part)),
    serializer: (schema) => both(generated.serializer(schema), compiled.serializer(schema)),
  }
}

function settled<Value>(run: () => Value): { value: Value } | { thrown: unknown } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
