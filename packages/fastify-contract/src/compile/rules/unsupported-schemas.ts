import type { Content, Operation, Routes } from '../../serve/contract.ts'
import { ignoredKeyword } from '../../serve/exact-keywords.ts'
import { inPlaceKeywords, type Schema, schemasIn } from '../../serve/schema-keywords.ts'
import { createValidator, newAjv } from '../../serve/validator.ts'
import { discriminatorNames, ignoredNamesOf, inPlace, isMarked, propertiesOf } from '../document/directions.ts'
import { isDefault, isDiscriminator } from '../document/discriminators.ts'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { growthOf, maxPatternLength } from '../document/patterns.ts'
import { components, int64Holders, isInt64 } from '../document/schemas.ts'
import { mapTree, type Node, schemaPlaces, walkSchemas } from '../document/walk-document.ts'

/** What each keyword of a schema must be like, so that the service can validate values against the schema. */

/** What a rule knows of the whole document. */
type Context = {
  document: Document
  /** The pointers to all schemas. */
  places: Set<string>
  /** Schemas of one number refer to one another without a property or an item in between. */
  cycles: Map<Node, number>
  holdsInt64: (schema: Schema) => boolean
  /** The properties of a schema that responses ignore. */
  hiddenNames: (schema: Schema) => Set<string>
}

/** The keys below the schema, and what is wrong there. */
type Problem = [keys: string[], problem: string]

/** A rule for a schema that has the keyword. */
type Rule = { keyword: string; check: (schema: Node, context: Context) => string | undefined | Problem[] }

const rule = (keyword: string, check: Rule['check']): Rule => ({ keyword, check })

/** A rule for a keyword that is not supported with a value of a type. */
const unsupported = (keyword: string, type: 'string' | 'boolean', problem: string) =>
  rule(keyword, (schema) => (typeof schema[keyword] === type ? problem : undefined))

const useReference = 'is not supported; refer to the schema by its JSON pointer, with $ref'

const rules: Rule[] = [
  // Keywords that identify a schema, or refer to one, by something other than its place (JSON Schema core, section 8.2).
  ...['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'].map((keyword) =>
    unsupported(keyword, 'string', useReference),
  ),
  unsupported('$schema', 'string', 'is not supported; remove it'),
  // nullable does not exist in OpenAPI 3.1, but Ajv would still apply it.
  unsupported('nullable', 'boolean', "belongs to OpenAPI 3.0; add the type 'null' instead"),
  // Ajv ignores the name __proto__ in these keywords.
  ...['dependentRequired', 'dependentSchemas', 'dependencies'].map((keyword) =>
    rule(keyword, (schema) =>
      Object.hasOwn(schema[keyword] ?? {}, '__proto__')
        ? '__proto__ is not supported here; use if and then instead'
        : undefined,
    ),
  ),
  rule(ignoredKeyword, () => 'is reserved for generated schemas; rename it'),
  rule('$ref', referenceProblem),
  rule('discriminator', defaultMappingProblem),
  rule('pattern', (schema) =>
    typeof schema.pattern === 'string' ? patternProblem('pattern', schema.pattern, schema) : undefined,
  ),
  rule('patternProperties', (schema) =>
    Object.keys(schema.patternProperties as object).flatMap((pattern): Problem[] => {
      const problem = patternProblem('patternProperties', pattern, schema)
      return problem === undefined ? [] : [[['patternProperties'], problem]]
    }),
  ),
  rule('multipleOf', (schema) =>
    isInt64(schema) && !Number.isInteger(schema.multipleOf) ? 'must be an integer beside the format int64' : undefined,
  ),
  // Ajv stops at the first items that match contains, so the int64 values of later items would not become bigints.
  rule('contains', (schema, { holdsInt64 }) =>
    schemasIn(schema, 'contains').some(holdsInt64)
      ? 'int64 values are not exact in contains; use items instead'
      : undefined,
  ),
  rule('properties', (schema, { document }) =>
    Object.entries(propertiesOf(schema))
      .filter(([, below]) => isMarked(document, below, 'readOnly') && isMarked(document, below, 'writeOnly'))
      .map(([name]) => [
        ['properties', name],
        'is both readOnly and writeOnly, so neither a request nor a response can hold it; remove one of them',
      ]),
  ),
  ...['oneOf', 'anyOf'].map((keyword) =>
    rule(keyword, (schema, context) =>
      unlikeAlternatives(context, schema, keyword).map((name) => [
        [keyword],
        `${name} is writeOnly in one alternative and not in another, so a response could expose it; describe it the same way in each`,
      ]),
    ),
  ),
]

/** Returns one line for each keyword of a schema in a document that the service cannot apply. */
export function unsupportedSchemas(document: Document): string[] {
  const schemas = new Map<Node, string[]>()
  walkSchemas(document, (schema, pointer) => schemas.set(schema, [...(schemas.get(schema) ?? []), pointer]))
  const context: Context = {
    document,
    places: schemaPlaces(document),
    cycles: components(document, schemas.keys(), [...inPlaceKeywords, 'not']),
    holdsInt64: int64Holders(document),
    hiddenNames: ignoredNamesOf(document, 'response'),
  }
  return [...schemas].flatMap(([schema, pointers]) => {
    const found = rules.flatMap(({ keyword, check }) => {
      const problems = Object.hasOwn(schema, keyword) ? (check(schema, context) ?? []) : []
      return typeof problems === 'string' ? [[[keyword], problems] as Problem] : problems
    })
    return pointers.flatMap((pointer) => found.map(([keys, problem]) => `${join(pointer, ...keys)}: ${problem}`))
  })
}

function referenceProblem(schema: Node, { document, places, cycles }: Context): string | undefined {
  const { $ref } = schema
  if (typeof $ref !== 'string') return undefined
  if (!$ref.startsWith('#/')) return `${$ref} does not point into this document; use a reference that begins with #/`
  if (!places.has(join('#', ...keysOf($ref)))) {
    return `${$ref} does not point to a schema; move the schema to #/components/schemas`
  }
  // The validation of an endless schema would never return.
  const isEndless = cycles.get(schema) === cycles.get(resolve(document, $ref) as Node)
  return isEndless
    ? `${$ref} refers back to itself without a property or an item in between, so validation would never end; remove it`
    : undefined
}

/** Requires that a `defaultMapping` refers to an alternative of its schema. */
function defaultMappingProblem({ discriminator, oneOf, anyOf }: Node): Problem[] {
  if (!isDiscriminator(discriminator) || discriminator.defaultMapping === undefined) return []
  const alternatives = [oneOf ?? anyOf ?? []].flat() as Node[]
  const isServed = alternatives.some((one) => isDefault(Object(one), discriminator))
  const problem =
    'is not supported unless it refers to an alternative in the oneOf or anyOf of the same schema; remove it'
  return isServed ? [] : [[['discriminator', 'defaultMapping'], problem]]
}

/** Characters. With a larger maxLength, a body of 256 KiB could hold the event loop for more than a second. */
const maxOwnLength = 10_000

const rewrite = 'rewrite it so that no two repetitions can match the same characters'

function patternProblem(keyword: string, pattern: string, { maxLength }: Node): string | undefined {
  if (!isPattern(pattern)) return `${pattern} is not a regular expression of ECMA-262 with the flag u; correct it`
  const growth = growthOf(pattern)
  if (growth === 'steep') return `${pattern} takes more than quadratic time, which would block the service; ${rewrite}`
  if (growth === 'unknown') {
    return `${pattern} could take more than quadratic time, which would block the service; ${rewrite}, without backreferences, and with at most ${maxPatternLength} characters`
  }
  if (growth !== 'quadratic' || keyword === 'patternProperties') return undefined
  if (typeof maxLength !== 'number' || maxLength <= maxOwnLength) return undefined
  return `${pattern} takes quadratic time; lower maxLength to at most ${maxOwnLength}, or ${rewrite}`
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode
  } catch {
    return false
  }
}

/** Returns the properties that are writeOnly in some alternatives of a schema and not in others that name them. */
function unlikeAlternatives({ document, hiddenNames }: Context, schema: Node, keyword: string): string[] {
  const branches = schemasIn(schema, keyword)
  const hidden = branches.map(hiddenNames)
  if (hidden.every((names) => names.size === 0)) return []
  const settled = new Set([...hiddenNames(schema), ...discriminatorNames(inPlace(document, schema))])
  const shown = branches.map((branch) => inPlace(document, branch).flatMap((part) => Object.keys(propertiesOf(part))))
  const names = new Set(hidden.flatMap((each) => [...each]))
  return [...names].filter(
    (name) => !settled.has(name) && shown.some((each, index) => each.includes(name) && !hidden[index]?.has(name)),
  )
}

/**
 * Returns one line for each schema that the service could not compile. The service compiles a schema only when a
 * request first needs it, so a mistake is reported here. Each schema is compiled without the schemas that it refers to,
 * so that each mistake is reported once, at its own place.
 */
export function uncompilableSchemas({ operations, schemas }: Pick<Routes, 'operations' | 'schemas'>): string[] {
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
