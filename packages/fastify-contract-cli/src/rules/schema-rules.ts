import { inPlaceKeywords, type Schema, schemasIn } from 'fastify-contract/contract'
import { ignoredKeyword, linearPattern } from 'fastify-contract/schema'
import { discriminatorNames, ignoredNamesOf, inPlace, isMarked, propertiesOf } from '../document/directions.ts'
import { isDefaultServed, isDiscriminator, withUnlistedParents } from '../document/discriminators.ts'
import { keysOf, targetOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { expressionOf, growthOf, maxPatternLength, maxSlowLength } from '../document/patterns.ts'
import { components, int64Holders, partsOf, schemasDescribing, schemasOfParts } from '../document/schemas.ts'
import { isNode, kindAt, type Node, walkSchemas } from '../document/walk-document.ts'
import { draftOf, isServedDialect } from '../read/schema-dialects.ts'
import { dynamicProblem } from '../read/schema-resources.ts'
import type { Deviation, Report } from '../reports/reports.ts'

/** What a rule knows of the whole document. */
type Context = {
  document: Document
  /** Returns whether a schema refers to one that refers back without a property or an item in between. */
  isEndless: (schema: Node) => boolean
  holdsInt64: (schema: Schema) => boolean
  /** The properties of a schema that requests, or responses, ignore. */
  ignoredNames: Record<'request' | 'response', (schema: Schema) => Set<string>>
}

/** What is to say about a schema, or about a location below it. */
type Found = string | undefined | [keys: string[], text: string][]

/** A rule for a schema that has one of the keywords. `member` is the member that holds the schema. */
type Rule = {
  kind: Deviation
  keywords: string[]
  check: (schema: Node, context: Context, keyword: string, member: string) => Found
}

const rule = (kind: Deviation, keywords: string | string[], check: Rule['check']): Rule => ({
  kind,
  keywords: [keywords].flat(),
  check,
})

/** A rule for keywords that are not supported with a value of a type. */
const unsupported = (kind: Deviation, keywords: string | string[], type: 'string' | 'boolean', text: string) =>
  rule(kind, keywords, (schema, _, keyword) => (typeof schema[keyword] === type ? text : undefined))

const useReference = 'is not supported; refer to the schema by its JSON pointer, with $ref'

/** The members whose schemas may be the schema of a property, or a part of it. */
const ofProperties = ['properties', 'allOf', 'schemas']

/** Schemas that the service cannot apply, or applies in a way that their authors may not expect. */
const rules: Rule[] = [
  // Keywords that identify a schema, or refer to one, by something other than its location (JSON Schema core, section 8.2).
  unsupported('unresolved-anchor', ['$id', '$anchor', '$dynamicAnchor'], 'string', useReference),
  rule('unresolved-anchor', ['$dynamicRef', '$recursiveRef'], function dynamicProblemOf(schema, _, keyword) {
    const { [keyword]: name, [dynamicProblem]: problem } = schema
    if (typeof name !== 'string') return undefined
    return typeof problem === 'string' ? problem : `${name} leads to no anchor; add a $dynamicAnchor, or use $ref`
  }),
  unsupported(
    'wrong-type',
    ['exclusiveMinimum', 'exclusiveMaximum'],
    'boolean',
    'must be a number since OpenAPI 3.1; correct it',
  ),
  // read/schema-resources.ts has translated the earlier drafts.
  rule('unsupported-dialect', '$schema', ({ $schema }) =>
    typeof $schema === 'string' && !(isServedDialect($schema) && draftOf($schema) === undefined)
      ? `${$schema} is not supported; use JSON Schema 2020-12, or draft 4 to 2019-09`
      : undefined,
  ),
  // Ajv ignores the name __proto__ in these keywords.
  rule('reserved-name', ['dependentRequired', 'dependentSchemas', 'dependencies'], (schema, _, keyword) =>
    Object.hasOwn(schema[keyword] ?? {}, '__proto__')
      ? '__proto__ is not supported here; use if and then instead'
      : undefined,
  ),
  rule('reserved-name', ignoredKeyword, () => 'is reserved for generated schemas; rename it'),
  rule('reference-without-target', '$ref', targetProblem),
  rule('endless-reference', '$ref', endlessProblem),
  rule('invalid-default-mapping', 'discriminator', defaultMappingProblem),
  ...patternRules('pattern-not-ecma', foreignPattern),
  ...patternRules('pattern-too-slow', slowPattern),
  // Ajv stops at the first items that match contains, so the int64 values of later items would not become bigints.
  rule('inexact-contains', 'contains', (schema, { holdsInt64 }) =>
    schemasIn(schema, 'contains').some(holdsInt64)
      ? 'int64 values are not exact in contains; use items instead'
      : undefined,
  ),
  rule('inexact-contains', 'unevaluatedItems', uncertainContains),
  rule('exposed-property', ['oneOf', 'anyOf'], exposedProperties),
  rule('mark-without-effect', 'properties', contraryMarks),
  rule('mark-without-effect', ['readOnly', 'writeOnly', '$ref', 'allOf'], misplacedMarks),
  rule('rounded-format', 'format', roundedFormat),
  rule('counted-properties', ['minProperties', 'maxProperties'], countedProperties),
  rule('slow-property-pattern', 'patternProperties', slowPropertyPatterns),
]

const byKeyword = (rules: Rule[]) => {
  const found = new Map<string, Rule[]>()
  for (const one of rules) for (const each of one.keywords) found.set(each, [...(found.get(each) ?? []), one])
  return found
}

function uncertainContains(schema: Node, { document }: Context): Found {
  const certain = new Set(schemasOfParts(partsOf(document, schema)))
  for (const one of schemasDescribing(document, [schema], inPlaceKeywords)) {
    if ('contains' in one && !certain.has(one))
      return 'cannot tell which items match a contains in anyOf, oneOf, if, then, else or dependentSchemas; move the contains beside it'
  }
  return undefined
}

function exposedProperties(schema: Node, context: Context, keyword: string): Found {
  const found: [string[], string][] = []
  for (const name of unlikeAlternatives(context, schema, keyword)) {
    const text = `${name} is writeOnly in one alternative and not in another, so a response could expose it; describe it the same way in each`
    found.push([[keyword], text])
  }
  return found
}

function contraryMarks(schema: Node, { document }: Context): Found {
  const text = 'is both readOnly and writeOnly, so requests ignore it and no response has it; remove one of them'
  const found: [string[], string][] = []
  for (const [name, below] of Object.entries(propertiesOf(schema)))
    if (isMarked(document, below, 'readOnly') && isMarked(document, below, 'writeOnly'))
      found.push([['properties', name], text])
  return found
}

function misplacedMarks(schema: Node, { document }: Context, _: string, member: string): Found {
  if (ofProperties.includes(member)) return undefined
  const found: [string[], string][] = []
  for (const mark of ['readOnly', 'writeOnly'] as const)
    if (isMarked(document, schema, mark)) found.push([[], `${mark} has no effect here; set it on a property`])
  return found
}

function roundedFormat({ type = 'number', format }: Node): Found {
  const isRounded = (format === 'int64' || format === 'uint64') && [type].flat().includes('number')
  return isRounded ? `${format} is exact for the type integer only; use that, since numbers are rounded` : undefined
}

function countedProperties(schema: Node, { ignoredNames }: Context): Found {
  const names = new Set([...ignoredNames.request(schema), ...ignoredNames.response(schema)])
  return names.size === 0
    ? undefined
    : `counts ${[...names].join(', ')} when it is sent, although the service ignores it`
}

function slowPropertyPatterns({ patternProperties }: Node): Found {
  const found: [string[], string][] = []
  for (const pattern of Object.keys(patternProperties as object)) {
    if (growthOf(pattern) === 'linear') continue
    const text = `${pattern} takes quadratic time; the names may have at most ${maxSlowLength} characters`
    found.push([['patternProperties'], text])
  }
  return found
}

const table = byKeyword(rules)

/** Applies the rules for schemas to each schema of a document. */
export function checkSchemas(document: Document, report: Report): void {
  const context: Context = {
    document,
    isEndless: endlessReferences(document),
    holdsInt64: int64Holders(document),
    ignoredNames: { request: ignoredNamesOf(document, 'request'), response: ignoredNamesOf(document, 'response') },
  }
  walkSchemas(document, function checkSchema(schema, at, member) {
    for (const keyword in schema)
      for (const { kind, check } of table.get(keyword) ?? []) {
        const found = check(schema, context, keyword, member)
        const all = typeof found === 'string' ? [[[keyword], found] as const] : (found ?? [])
        for (const [keys, text] of all) report(kind, at(...keys), text)
      }
  })
}

/** Returns a function that tells whether a reference refers to a schema that refers back to it. */
function endlessReferences(document: Document): (schema: Node) => boolean {
  const applied = withUnlistedParents(document)
  const schemas: Node[] = []
  // No cycle is without a reference.
  walkSchemas(applied, (schema) => Object.hasOwn(schema, '$ref') && schemas.push(schema))
  const cycles = components(applied, schemas, [...inPlaceKeywords, 'not'])
  return (schema) =>
    cycles.has(schema) && cycles.get(schema) === cycles.get(targetOf(applied, String(schema.$ref)) as Node)
}

function targetProblem(schema: Node, { document }: Context): string | undefined {
  const { $ref } = schema
  if (typeof $ref !== 'string') return undefined
  if (!$ref.startsWith('#/')) return `${$ref} does not point into this document; use a reference that begins with #/`
  const target = targetOf(document, $ref)
  if (target === undefined) return `${$ref} does not resolve; correct the reference`
  if (kindAt(keysOf($ref)) !== 'schema' || !(isNode(target) || typeof target === 'boolean'))
    return `${$ref} does not point to a schema; move the schema to #/components/schemas`
  return undefined
}

/** The validation of an endless schema would never return. */
function endlessProblem(schema: Node, { isEndless }: Context): string | undefined {
  const { $ref } = schema
  return typeof $ref === 'string' && isEndless(schema)
    ? `${$ref} refers back to itself without a property or an item in between, so validation would never end; remove it`
    : undefined
}

function defaultMappingProblem(schema: Node, { document }: Context): Found {
  const { discriminator } = schema
  if (!isDiscriminator(discriminator) || discriminator.defaultMapping === undefined) return undefined
  if (isDefaultServed(document, schema, discriminator)) return undefined
  const problem =
    'must refer to an alternative in the oneOf or anyOf of the same schema, or without those to a schema that inherits from it; correct it'
  return [[['discriminator', 'defaultMapping'], problem]]
}

const rewrite = 'rewrite it so that no two repetitions can match the same characters'

type PatternProblem = (pattern: string, keyword: 'pattern' | 'patternProperties') => string | undefined

/** Returns the rules for the patterns of both keywords. */
function patternRules(kind: Deviation, problemOf: PatternProblem): Rule[] {
  return [
    rule(kind, 'pattern', ({ pattern }) => (typeof pattern === 'string' ? problemOf(pattern, 'pattern') : undefined)),
    rule(kind, 'patternProperties', nameProblems),
  ]

  function nameProblems({ patternProperties }: Node): Found {
    const found: [string[], string][] = []
    for (const pattern of Object.keys(patternProperties as object)) {
      const problem = problemOf(pattern, 'patternProperties')
      if (problem !== undefined) found.push([['patternProperties'], problem])
    }
    return found
  }
}

function foreignPattern(pattern: string): string | undefined {
  return expressionOf(pattern) === undefined
    ? `${pattern} is not a regular expression of ECMA-262; correct it`
    : undefined
}

function slowPattern(pattern: string, keyword: 'pattern' | 'patternProperties'): string | undefined {
  if (expressionOf(pattern) === undefined) return undefined
  const isName = keyword === 'patternProperties'
  if (!isName && linearPattern(pattern) !== undefined) return undefined
  const growth = growthOf(pattern)
  if (growth === 'linear' || (growth === 'quadratic' && isName)) return undefined
  if (growth === 'unknown') {
    return `${pattern} could take more than quadratic time, which would block the service; ${rewrite}, without backreferences, and with at most ${maxPatternLength} characters`
  }
  const degree = growth === 'quadratic' ? 'quadratic' : 'more than quadratic'
  return `${pattern} takes ${degree} time, which would block the service; ${rewrite}`
}

/** Returns the properties that are writeOnly in some alternatives of a schema and not in others that name them. */
function unlikeAlternatives({ document, ignoredNames }: Context, schema: Node, keyword: string): string[] {
  const hiddenNames = ignoredNames.response
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
