import type { Operation, Routes, Schema, SerializedParameter } from 'fastify-contract/contract'
import { parseJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { type Document, type Endpoint, endpoints, type Located, type Parameter } from '../document/openapi-document.ts'
import { serializedParameter } from '../document/parameter-objects.ts'
import { typesOf } from '../document/schemas.ts'
import { assumedStyle } from '../passes/assumed-styles.ts'
import { parameterProblems } from '../passes/parameter-problems.ts'
import type { Report } from '../reports/reports.ts'

/**
 * Rejects parameters of an operation that the service cannot parse as described, and warns of those that it parses in
 * another style.
 */
export function checkParameters(endpoint: Endpoint, report: Report, document: Document): void {
  for (const { pointer, name, [assumedStyle]: assumed } of endpoint.parameters as (Located<Parameter> & Assumed)[])
    if (assumed !== undefined) report('undefined-style', pointer, `parameter ${name}: ${assumed}`)
  for (const { parameter, kind, problem, advice } of parameterProblems(document, endpoint)) {
    if (advice === undefined) report(kind, parameter.pointer, `parameter ${parameter.name}: ${problem}`)
    else report('equal-names', parameter.pointer, `parameter ${parameter.name}: ${advice}`)
  }
}

type Assumed = { [assumedStyle]?: string }

/** Warns of each `allowEmptyValue` whose schema rejects the empty value. */
export function checkEmptyValues({ path, parameters }: Endpoint, report: Report, document: Document): void {
  for (const parameter of parameters) {
    if (parameter.in !== 'query' || parameter.allowEmptyValue !== true || parameter.content !== undefined) continue
    const { kind, types, isPlain = false } = serializedParameter(document, path, parameter)
    const isTaken =
      isPlain ||
      [types, typesOf(document, parameter.schema).types].some(
        (all) => all.length === 0 || all.includes('string') || all.includes('null'),
      )
    if (kind !== 'object' && !isTaken)
      report(
        'empty-value',
        parameter.pointer,
        `parameter ${parameter.name}: an empty value is rejected, since it is not of type ${types.join(' or ')}; add the type 'null', or remove allowEmptyValue`,
      )
  }
}

/** Returns the pointers to the parameters whose default their own schema rejects, each with the reason. */
export function invalidDefaults(document: Document, { operations, schemas }: Routes): Map<string, string> {
  const validator = createValidator(schemas)
  // Many operations have the same parameters, and the compilation of a schema takes a millisecond.
  const known = new Map<string, string | undefined>()
  function problemOf(schema: Schema, text: string): string | undefined {
    const key = JSON.stringify([schema, text])
    if (!known.has(key)) {
      const result = validator.request(schema, 'its default')(parseJson(text))
      known.set(key, 'error' in result ? result.error.message : undefined)
    }
    return known.get(key)
  }

  const found = new Map<string, string>()
  for (const [index, { parameters: described }] of endpoints(document).entries()) {
    const { parameters, schema } = operations[index] as Operation
    for (const [position, parameter] of parameters.entries()) {
      if (parameter.default === undefined) continue
      const problem = problemOf(schemaOf(schema, parameter), parameter.default)
      if (problem !== undefined) found.set(described[position]?.pointer as string, problem)
    }
  }
  return found
}

function schemaOf(
  { params, querystring, headers, cookies }: Operation['schema'],
  { in: location, name }: SerializedParameter,
) {
  const holder = { path: params, query: querystring, header: headers, cookie: cookies }[location] as {
    properties: object
  }
  return (Object.getOwnPropertyDescriptor(holder.properties, name)?.value as Schema | undefined) ?? true
}
