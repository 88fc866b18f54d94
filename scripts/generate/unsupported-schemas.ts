import { inPlaceKeywords } from '../../src/openapi/schema-keywords.ts'
import { defaultProblem } from './discriminators.ts'
import { join, keysOf, resolve } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { describing } from './schema-types.ts'
import { type Node, schemaPlaces, walkSchemas } from './walk-document.ts'

/** Keywords by which a schema gets a name that is not its place (JSON Schema 2020-12, core, section 8.2). */
const names = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', '$schema']

/** Returns one line for each schema of a bundled document that could not be checked as it says. */
export function unsupportedSchemas(document: Document): string[] {
  const dialect = (document as Document & { jsonSchemaDialect?: unknown }).jsonSchemaDialect
  const problems: string[] = []
  if (dialect !== undefined && !/oas\/3\.[12]\/dialect\/|json-schema\.org\/draft\/2020-12/.test(String(dialect))) {
    problems.push(`#/jsonSchemaDialect: ${dialect} is not read; leave it out`)
  }
  const places = schemaPlaces(document)
  walkSchemas(document, (schema, pointer) => {
    problems.push(
      ...schemaProblems(schema).map(([keys, problem]) => `${join(pointer, ...keys.split('/'))}: ${problem}`),
    )
    const problem = typeof schema.$ref === 'string' && referenceProblem(document, places, schema, schema.$ref)
    if (problem) problems.push(`${join(pointer, '$ref')}: ${schema.$ref} ${problem}`)
  })
  return problems
}

function referenceProblem(document: Document, places: Set<string>, schema: Node, target: string): string | undefined {
  if (!target.startsWith('#/')) return 'is not a place in the document; use one that begins with #/'
  if (!places.has(join('#', ...keysOf(target)))) {
    return 'is not the place of a schema; put the schema into #/components/schemas'
  }
  // Its validation would not end.
  const isEndless = describing(document, [resolve(document, target)], [...inPlaceKeywords, 'not']).includes(schema)
  return isEndless ? 'leads back to itself, with no property or item between; take it out' : undefined
}

function schemaProblems(schema: Node): [keys: string, problem: string][] {
  const problems: [string, string][] = []
  for (const key of names) {
    if (typeof schema[key] === 'string') problems.push([key, 'is not read; refer to a schema by its place, with $ref'])
  }
  const defaultMapping = defaultProblem(schema)
  if (defaultMapping !== undefined) problems.push(['discriminator/defaultMapping', defaultMapping])
  // Ajv heeds it all the same.
  if (typeof schema.nullable === 'boolean') problems.push(['nullable', "is of OpenAPI 3.0; give the type 'null', too"])
  const { pattern, patternProperties } = schema
  const patterns = typeof pattern === 'string' ? [pattern] : []
  for (const one of [...patterns, ...Object.keys(patternProperties ?? {})]) {
    if (!isPattern(one)) problems.push(['pattern', `${one} is no regular expression of ECMA-262 with the flag u`])
  }
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    // Ajv ignores this name here.
    if (Object.hasOwn(schema[keyword] ?? {}, '__proto__')) {
      problems.push([keyword, '__proto__ is not read; use if and then instead'])
    }
  }
  return problems
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode
  } catch {
    return false
  }
}
