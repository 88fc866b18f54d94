import { inPlaceKeywords, schemasIn } from '../../serve/schema-keywords.ts'
import { isDefault, isDiscriminator } from '../document/discriminators.ts'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { growthOf, isSlow, maxPatternLength, maxSlowLength } from '../document/patterns.ts'
import { components, int64Holders, isInt64 } from '../document/schemas.ts'
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

/** Returns the reason why a `defaultMapping` cannot be served, or undefined if it can. */
export function defaultMappingProblem({ discriminator, oneOf, anyOf }: Node): string | undefined {
  if (!isDiscriminator(discriminator) || discriminator.defaultMapping === undefined) return undefined
  const alternatives = [oneOf ?? anyOf ?? []].flat() as Node[]
  const isServed = alternatives.some((one) => isDefault(Object(one), discriminator))
  return isServed
    ? undefined
    : 'is not supported unless it refers to an alternative in the oneOf or anyOf of the same schema; remove it'
}

/** Characters. With a larger maxLength, a body of 256 KiB could hold the event loop for more than a second. */
const maxOwnLength = 10_000

const rewrite = 'rewrite it so that no two repetitions can match the same characters'

/** Returns why a pattern of a schema cannot be served, or undefined. `keyword` is pattern or patternProperties. */
export function slowPatternProblem(keyword: string, pattern: string, { maxLength }: Node): string | undefined {
  const growth = growthOf(pattern)
  if (growth === 'steep') return `${pattern} takes more than quadratic time, which would block the service; ${rewrite}`
  if (growth === 'unknown') {
    return `${pattern} could take more than quadratic time, which would block the service; ${rewrite}, without backreferences, and with at most ${maxPatternLength} characters`
  }
  if (growth !== 'quadratic' || keyword === 'patternProperties') return undefined
  if (typeof maxLength !== 'number' || maxLength <= maxOwnLength) return undefined
  return `${pattern} takes quadratic time; lower maxLength to at most ${maxOwnLength}, or ${rewrite}`
}

/** Returns a warning for each pattern that limits its text to `maxSlowLength` characters. */
export function slowPatternWarnings(document: Document): string[] {
  const warnings: string[] = []
  walkSchemas(document, (schema, pointer) => {
    const { pattern, patternProperties = {}, maxLength } = schema
    for (const key of Object.keys(patternProperties as object)) {
      if (growthOf(key) === 'linear') continue
      const place = join(pointer, 'patternProperties')
      warnings.push(`${place}: ${key} takes quadratic time; the names may have at most ${maxSlowLength} characters`)
    }
    if (maxLength !== undefined || !isSlow(schema)) return
    warnings.push(
      `${join(pointer, 'pattern')}: ${pattern} takes quadratic time; its text may have at most ${maxSlowLength} characters, unless you add a maxLength or rewrite it`,
    )
  })
  return warnings
}
