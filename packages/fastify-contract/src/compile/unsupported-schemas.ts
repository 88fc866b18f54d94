import { inPlaceKeywords } from '../serve/schema-keywords.ts'
import { defaultMappingProblem } from './discriminators.ts'
import { join, keysOf, resolve } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { components } from './schema-graph.ts'
import { slowPatternProblem } from './slow-patterns.ts'
import { type Node, schemaPlaces, walkSchemas } from './walk-document.ts'

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
