import { inPlaceKeywords, type Schema, schemaKeywords, schemasIn } from '../../serve/schema-keywords.ts'
import { defaultMappingProblem } from '../document/discriminators.ts'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { slowPatternProblem } from '../document/patterns.ts'
import { components, reachability } from '../document/schema-graph.ts'
import { type Node, schemaPlaces, walkSchemas } from '../document/walk-document.ts'

/**
 * Keywords that identify a schema, or refer to one, by something other than its place (JSON Schema core, section 8.2).
 */
const identifierKeywords = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef']

/** Returns one line for each schema of a bundled document that the service cannot validate values against. */
export function unsupportedSchemas(document: Document): string[] {
  const dialect = (document as Document & { jsonSchemaDialect?: unknown }).jsonSchemaDialect
  const problems: string[] = []
  if (dialect !== undefined && !/oas\/3\.[12]\/dialect\/|json-schema\.org\/draft\/2020-12/.test(String(dialect))) {
    problems.push(`#/jsonSchemaDialect: ${dialect} is not supported; remove it`)
  }
  const places = schemaPlaces(document)
  const schemas: Node[] = []
  walkSchemas(document, (schema) => schemas.push(schema))
  const cycles = components(document, schemas, [...inPlaceKeywords, 'not'])
  walkSchemas(document, (schema, pointer) => {
    problems.push(
      ...schemaProblems(schema).map(([keys, problem]) => `${join(pointer, ...keys.split('/'))}: ${problem}`),
    )
    const problem = typeof schema.$ref === 'string' && referenceProblem(document, places, cycles, schema, schema.$ref)
    if (problem) problems.push(`${join(pointer, '$ref')}: ${schema.$ref} ${problem}`)
  })
  return problems
}

function referenceProblem(
  document: Document,
  places: Set<string>,
  cycles: Map<Node, number>,
  schema: Node,
  target: string,
): string | undefined {
  if (!target.startsWith('#/')) return 'does not point into this document; use a reference that begins with #/'
  if (!places.has(join('#', ...keysOf(target)))) {
    return 'does not point to a schema; move the schema to #/components/schemas'
  }
  // The validation of an endless schema would never return.
  const isEndless = cycles.get(schema) === cycles.get(resolve(document, target) as Node)
  return isEndless
    ? 'refers back to itself without a property or an item in between, so validation would never end; remove it'
    : undefined
}

function schemaProblems(schema: Node): [keys: string, problem: string][] {
  const problems: [string, string][] = []
  for (const keyword of identifierKeywords) {
    if (typeof schema[keyword] === 'string')
      problems.push([keyword, 'is not supported; refer to the schema by its JSON pointer, with $ref'])
  }
  if (typeof schema.$schema === 'string') problems.push(['$schema', 'is not supported; remove it'])
  const defaultMapping = defaultMappingProblem(schema)
  if (defaultMapping !== undefined) problems.push(['discriminator/defaultMapping', defaultMapping])
  // nullable does not exist in OpenAPI 3.1, but Ajv would still apply it.
  if (typeof schema.nullable === 'boolean')
    problems.push(['nullable', "belongs to OpenAPI 3.0; add the type 'null' instead"])
  for (const [keyword, pattern] of patternsOf(schema)) {
    if (!isPattern(pattern))
      problems.push([keyword, `${pattern} is not a regular expression of ECMA-262 with the flag u; correct it`])
    else {
      const problem = slowPatternProblem(keyword, pattern, schema)
      if (problem !== undefined) problems.push([keyword, problem])
    }
  }
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    // Ajv ignores the name __proto__ in these keywords.
    if (Object.hasOwn(schema[keyword] ?? {}, '__proto__')) {
      problems.push([keyword, '__proto__ is not supported here; use if and then instead'])
    }
  }
  return problems
}

const patternsOf = ({ pattern, patternProperties }: Node): [keyword: string, pattern: string][] => [
  ...(typeof pattern === 'string' ? [['pattern', pattern] as [string, string]] : []),
  ...Object.keys(patternProperties ?? {}).map((key): [string, string] => ['patternProperties', key]),
]

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode
  } catch {
    return false
  }
}

/** Finds the integers of a document that the tools between the document and the service cannot process exactly. */

/**
 * Returns one line for each place of a bundled OpenAPI document whose integers would be rounded or compared wrongly: a
 * number beyond 2^53 - 1 (YAML and JSON tools read it as a double), a fractional multipleOf beside int64, and an int64
 * in contains.
 */
export function inexactIntegers(document: object): string[] {
  const problems = roundedNumbers(document, '#')
  const holdsInt64 = int64Holders(document)
  walkSchemas(document, (schema, pointer) => {
    if (isInt64(schema) && schema.multipleOf !== undefined && !Number.isInteger(schema.multipleOf)) {
      problems.push(`${pointer}/multipleOf: must be an integer beside the format int64`)
    }
    // Ajv stops at the first items that match contains, so the int64 values of later items would not become bigints.
    if (schemasIn(schema, 'contains').some((items) => holdsInt64(items)))
      problems.push(`${pointer}/contains: int64 values are not exact in contains; use items instead`)
  })
  return problems
}

/** Returns one line for each rounded number in any value, since examples and extensions are rounded as well. */
function roundedNumbers(value: unknown, pointer: string): string[] {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const advice = 'remove it (int64 implies its own limits) or state it in the description'
    return [`${pointer}: an integer beyond 2^53 - 1 would be rounded; ${advice}`]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => roundedNumbers(below, join(pointer, key)))
}

/** Returns a function that tells whether a schema holds an int64 at any depth, also behind a $ref. */
export const int64Holders = (document: object): ((schema: Schema) => boolean) =>
  reachability(document, Object.keys(schemaKeywords), isInt64)

/**
 * Returns whether the type of a schema allows integers and no other numbers, so that its format can make them exact.
 */
export const isExactInteger = ({ type }: Exclude<Schema, boolean> | Node): boolean => {
  const types = [type].flat()
  return types.includes('integer') && !types.includes('number')
}

/** Returns whether a schema is an int64, alone or beside types that are not numbers. */
export const isInt64 = (schema: Exclude<Schema, boolean> | Node): boolean =>
  schema.format === 'int64' && isExactInteger(schema)

/**
 * Returns one line for each `nullable: true` of an OpenAPI 3.0 document that does not allow null, because its schema
 * has no type (3.0.3, "Clarify the semantics of nullable"). Each line says what to write instead.
 */
export function ineffectiveNullables(document: Document): string[] {
  const lines: string[] = []
  if (!document.openapi.startsWith('3.0.')) return lines
  walkSchemas(document, (schema, pointer) => {
    if (schema.nullable !== true || typeof schema.type === 'string') return
    lines.push(`${pointer}: nullable has no effect without a type in the same schema; ${remedyFor(schema)}`)
  })
  return lines
}

/** Returns what to write instead. In an allOf every schema must allow null, so a type beside it would not be enough. */
const remedyFor = (schema: Node): string =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => Object.hasOwn(schema, keyword))
    ? 'to allow null, use anyOf with the schema and { type: object, nullable: true, enum: [null] }'
    : 'to allow null, add the type'
