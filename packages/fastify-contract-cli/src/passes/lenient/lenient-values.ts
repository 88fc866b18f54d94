import { stringifyJson } from 'fastify-contract/json'
import { isOfType } from '../../document/schemas.ts'
import { type At, type Node, withoutKeys } from '../../document/walk-document.ts'
import type { Advise } from '../../reports/reports.ts'
import { asNumber } from './field-types.ts'
import type { TextAt } from './lenient-structure.ts'

/** Returns a schema whose values have the types and the form that its keywords need, if their meaning is certain. */
export const lenientValues = (schema: Node, at: At, advise: Advise, textAt: TextAt): Node =>
  withPlainPattern(withAlternatives(withTypedEnum(schema, at, advise, textAt), at, advise), at, advise)

/**
 * Returns a schema in which the values of an `enum` have the type beside it. YAML reads 1.0 and true without quotes as a
 * number and a boolean, which no text equals.
 */
function withTypedEnum(schema: Node, at: At, advise: Advise, textAt: TextAt): Node {
  const { type: given, enum: values } = schema
  if (!Array.isArray(values) || given === undefined) return schema
  const types = [given].flat()
  const others = types.filter((type) => type !== 'null')
  const areTexts = others.length > 0 && others.every((type) => type === 'string')
  const areNumbers = others.length > 0 && others.every((type) => type === 'integer' || type === 'number')
  const typed: unknown[] = []
  const unused: unknown[] = []
  const changed: number[] = []
  for (const [index, given] of values.entries()) {
    const value = areTexts
      ? writtenText(given, () => textAt(at('enum', String(index))))
      : areNumbers
        ? (asNumber(given) ?? given)
        : given
    typed.push(value)
    if (value !== given) changed.push(index)
    const isIdle = !types.some((type) => isOfType(value, type))
    if (isIdle && !(schema.nullable === true && value === null)) unused.push(value)
  }
  if (unused.length > 0)
    advise(
      'keyword-of-another-type',
      at('enum'),
      `${shownList(unused)}: no effect beside the type ${types.join(' or ')}; remove it, or correct the type`,
    )
  if (changed.length === 0) return schema
  const listed = (all: unknown[]) => shownList(changed.map((index) => all[index]))
  const [expected, fix] = areTexts ? ['strings', 'quote them'] : ['numbers', 'remove the quotes']
  advise(
    'convertible-type',
    at('enum'),
    `its values must be ${expected}, not ${listed(values)}; read as ${listed(typed)}; ${fix}`,
  )
  return { ...schema, enum: typed }
}

const shownList = (values: unknown[]): string => {
  const text = values
    .slice(0, 4)
    .map((value) => stringifyJson(value))
    .join(', ')
  return values.length > 4 ? `${text}, …` : text
}

/** Returns the text that a scalar is written as; an integer whose digits are unknown stays as it is. */
function writtenText(value: unknown, written: () => string | undefined): unknown {
  const isKnown =
    typeof value === 'number'
      ? Number.isSafeInteger(value) || !Number.isInteger(value)
      : ['bigint', 'boolean'].includes(typeof value)
  return isKnown ? (written() ?? String(value)) : value
}

/** Returns a schema without a list of no schemas, for which JSON Schema has no meaning. */
function withAlternatives(schema: Node, at: At, advise: Advise): Node {
  const empty: string[] = []
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const schemas = schema[keyword]
    if (!Array.isArray(schemas) || schemas.length > 0) continue
    advise('empty-alternatives', at(keyword), 'has no schema, and is ignored; add one')
    empty.push(keyword)
  }
  return withoutKeys(schema, empty)
}

/** Matches a regular expression as JavaScript writes it. No text matches it as it is: nothing is before its start. */
const literal = /^\/(\^.*\$)\/([giu]*)$/s

function withPlainPattern(schema: Node, at: At, advise: Advise): Node {
  const { pattern } = schema
  const [, inner, flags = ''] = (typeof pattern === 'string' && literal.exec(pattern)) || []
  if (inner === undefined) return schema
  const plain = flags.includes('i') ? `(?i)${inner}` : inner
  advise(
    'pattern-with-slashes',
    at('pattern'),
    `the slashes around a pattern are a part of it; read as ${plain}; remove them`,
  )
  return { ...schema, pattern: plain }
}
