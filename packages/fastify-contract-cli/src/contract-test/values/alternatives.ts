import type { Schema } from 'fastify-contract/contract'
import { resolve } from '../../document/json-pointer.ts'
import type { Document } from '../../document/openapi-document.ts'
import { formats } from './formats.ts'
import { formatLimits } from './integers.ts'
import { join, type Keywords, type SchemaBranch } from './keywords.ts'

type Composed = Keywords & {
  type?: string | string[]
  const?: never
  $ref?: string
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}

/** Keywords that the generator does not model: the reference validator filters its values instead. */
const judgedKeywords = [
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  'patternProperties',
  'minProperties',
  'maxProperties',
  'contains',
  'prefixItems',
  'unevaluatedProperties',
  'unevaluatedItems',
]

const onNumbers = [...Object.keys(formatLimits), 'float', 'double']

/** The maximum number of alternatives of a schema: combinations of several `anyOf` grow exponentially. */
const maxAlternatives = 64

/**
 * Returns a function that expands a schema of the document into alternatives: one for each combination of its anyOf and
 * oneOf branches, with every $ref and allOf merged. An unsatisfiable schema has none.
 */
export function alternativesOf(document: Document): (schema: Schema) => SchemaBranch[] {
  const known = new Map<Schema, SchemaBranch[]>()
  const product = (left: SchemaBranch[], right: SchemaBranch[]) =>
    left.flatMap((a) => right.map((b) => join(a, b))).slice(0, maxAlternatives)

  function alternatives(schema: Schema): SchemaBranch[] {
    const found = known.get(schema) ?? expand(schema).filter(isPossible)
    known.set(schema, found)
    return found
  }

  function expand(schema: Schema): SchemaBranch[] {
    if (typeof schema === 'boolean') return schema ? [{ keywords: {}, judged: false }] : []
    const { $ref, allOf = [], anyOf, oneOf, const: only, type, ...rest } = schema as Composed
    const keywords: Keywords = { ...rest }
    if (type !== undefined) keywords.type = [type].flat()
    if (only !== undefined) keywords.enum = [only]
    const { format } = keywords
    const unknownFormat = format !== undefined && !onNumbers.includes(format) && !Object.hasOwn(formats, format)
    let all = [{ keywords, judged: unknownFormat || judgedKeywords.some((keyword) => keyword in schema) }]
    const together = $ref === undefined ? allOf : [resolve(document, $ref) as Schema, ...allOf]
    for (const one of together) all = product(all, alternatives(one))
    for (const choices of [anyOf, oneOf]) if (choices) all = product(all, choices.flatMap(alternatives))
    return all
  }
  return alternatives
}

const isPossible = ({ keywords }: SchemaBranch): boolean => keywords.type?.length !== 0 && keywords.enum?.length !== 0
