import { deepStrictEqual } from 'node:assert'
import type { Routes } from 'fastify-contract/contract'
import type { Validator } from 'fastify-contract/schema'

/** The functions of fastify-contract that are tested, which may be those of a copy. */
type Engine = Pick<
  typeof import('fastify-contract/schema'),
  'createValidator' | 'evaluateSchemaCode' | 'loadSchemaCode' | 'schemaCode'
>

/**
 * Returns a validator that runs the generated code of the schemas and the schemas compiled at their first use. It throws
 * if their results differ.
 */
export function bothValidators(engine: Engine, routes: Routes): Validator {
  const { createValidator, evaluateSchemaCode, loadSchemaCode, schemaCode } = engine
  const code = evaluateSchemaCode(schemaCode(routes))
  const generated = createValidator(routes.schemas, loadSchemaCode(code, routes))
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
    standard: (schema) => generated.standard(schema),
  }
}

function settled<Value>(run: () => Value): { value: Value } | { thrown: unknown } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}
