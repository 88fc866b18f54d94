import { isAnnotation, type Schema } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { isIgnored } from 'fastify-contract/schema'
import { resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { acceptsAll, isBigint, isOfType, typesOf } from '../document/schemas.ts'
import { hasAny, isNode, type Node, withoutKeys } from '../document/walk-document.ts'
import { presentType } from '../typescript/schema-types.ts'

/*
 * openapi-typescript writes the right type for a schema with one kind of keyword. These functions write a schema with
 * several kinds as an allOf of such schemas, since it would ignore some of them, or unite types that apply together.
 */

/** A schema without valid values, as an object. */
const never: Node = { anyOf: [false] }

/** Returns a schema from which openapi-typescript writes the type of its values. */
export function typedSchema(document: Document, schema: Node): Node {
  if (acceptsAll(schema.not)) return never
  const { $ref, allOf = [], anyOf, oneOf, ...given } = withoutKeys(schema, ['discriminator', '$defs', 'definitions'])
  const composed = [
    ...(typeof $ref === 'string' ? [{ $ref }] : []),
    ...(allOf as unknown[]).map(asObject),
    ...[anyOf, oneOf].flatMap((union) =>
      union === undefined ? [] : [{ anyOf: withoutMixture(union, ($ref) => resolve(document, $ref)) }],
    ),
  ]
  if (composed.length === 0) return ownSchema(withUnevaluated(given))
  const comments = Object.keys(given).filter(isComment)
  const keywords = withoutKeys(given, comments)
  const own = isLoneType(keywords) ? lone : ownSchema(keywords)
  const isNullable =
    own === lone && typesOf(document, schema).types.includes('null') && !typesIn(keywords).includes('null')
  const pieces = [...(isNullable ? [notNull] : limitsType(own) ? [own] : []), ...composed]
  const [first] = pieces
  return {
    ...withoutKeys(given, Object.keys(keywords)),
    ...(pieces.length === 1 && first !== undefined ? first : { allOf: pieces }),
  }
}

/** Returns whether a keyword has no effect on a type, or is one that openapi-typescript writes as a comment. */
const isComment = (keyword: string): boolean => keyword === 'summary' || isAnnotation(keyword)

/** Returns a boolean schema as an object, which openapi-typescript expects in an allOf and in the components. */
export const asObject = (schema: unknown): Node =>
  typeof schema === 'boolean' ? { anyOf: [schema] } : (schema as Node)

/** Keywords that limit the type of a value. */
const typeKeywords = ['type', 'enum', 'const', 'properties', 'patternProperties', 'additionalProperties', 'anyOf']

const limitsType = (schema: Node): boolean => hasAny(schema, typeKeywords)

/** Returns whether keywords say only that a value is an object: openapi-typescript would write an empty object. */
const isLoneType = (keywords: Node): boolean =>
  typesIn(keywords).includes('object') &&
  typesIn(keywords).every((type) => type === 'object' || type === 'null') &&
  [keywords.required ?? []].flat().length === 0 &&
  !hasAny(keywords, memberKeywords)

/** What stands for keywords that say only that a value is an object. */
const lone: Node = {}

/** A schema that forbids null, beside schemas that allow it. */
const notNull: Node = { type: presentType, not: { type: 'null' } }

/** Returns the schema of the keywords that stand beside no other schema. */
function ownSchema(schema: Node): Node {
  if (isBigint(schema)) return withExactInt64(schema)
  if (schema.const !== undefined || Array.isArray(schema.enum)) return listed(schema)
  return withOtherMembers(withAnyMember(withRequiredMembers(withoutUnused(schema))))
}

const typesIn = ({ type }: Node): unknown[] => (Array.isArray(type) ? type : type === undefined ? [] : [type])

/** Drops the enum and const of bigints, which hold numbers, and separates their type from the other types. */
function withExactInt64(node: Node): Node {
  const { enum: _, const: __, ...schema } = node
  const types = typesIn(node)
  const others = types.filter((type) => !['integer', 'number', 'null'].includes(type as string))
  if (others.length === 0) return schema
  return {
    anyOf: [
      { ...schema, type: types.filter((type) => !others.includes(type)) },
      ownSchema({ ...node, type: others, format: undefined }),
    ],
  }
}

/** Returns a schema that lists its values, without those that are not of its types. */
function listed(schema: Node): Node {
  const { const: value, enum: all, type, ...rest } = schema
  const types = typesIn(schema)
  const values = (value === undefined ? (all as unknown[]) : [value]).filter(
    (one) => types.length === 0 || types.some((each) => isOfType(one, each)),
  )
  if (values.length === 0) return never
  const isScalar = values.every((one) => typeof one !== 'object' || one === null)
  const isKept = value === undefined ? values.length === (all as unknown[]).length : value !== null
  const isNullable = types.includes('null') && !values.includes(null)
  if (isKept && isScalar && !isNullable && rest.properties === undefined) return schema
  const described = Object.entries(rest).filter(([key]) => isComment(key))
  const kept = isNullable ? types.filter((one) => one !== 'null') : undefined
  return { ...Object.fromEntries(described), ...(isScalar && kept && { type: kept }), enum: values }
}

/** Returns a schema without its ignored properties, and without maps of properties that are empty. */
function withoutUnused(schema: Node): Node {
  const all = Object.entries(Object(schema.properties) as Record<string, Schema>)
  const kept = all.filter(([, each]) => !isIgnored(each))
  const { properties, patternProperties: patterns, ...rest } = schema
  return {
    ...rest,
    ...(kept.length > 0 && { properties: kept.length === all.length ? properties : Object.fromEntries(kept) }),
    ...(Object.keys(Object(patterns)).length > 0 && { patternProperties: patterns }),
  }
}

/** Returns a schema whose other properties are described by unevaluatedProperties as by additionalProperties. */
const withUnevaluated = (schema: Node): Node =>
  schema.unevaluatedProperties === undefined || schema.additionalProperties !== undefined
    ? schema
    : { ...schema, additionalProperties: schema.unevaluatedProperties }

/** Adds the members that an object requires without describing them: they may be described beside it. */
function withRequiredMembers(schema: Node): Node {
  const { properties = {}, required, patternProperties, additionalProperties } = schema
  const types = typesIn(schema)
  if (types.length > 0 && !types.includes('object')) return schema
  const missing = [required ?? []].flat().filter((name) => !Object.hasOwn(properties as Node, name as string))
  if (missing.length === 0) return schema
  const patterns = Object.values(Object(patternProperties))
  const others = additionalProperties ?? { type: presentType }
  const member =
    patterns.length === 0 ? (acceptsAll(others) ? { type: presentType } : others) : { anyOf: [...patterns, others] }
  return {
    ...schema,
    properties: { ...(properties as Node), ...Object.fromEntries(missing.map((name) => [name, member])) },
  }
}

/** Keywords that describe which members an object has. */
const memberKeywords = ['properties', 'patternProperties', 'additionalProperties', 'enum', 'const']

/** Allows any member in an object whose schema describes none: openapi-typescript would type it as an empty object. */
const withAnyMember = (schema: Node): Node =>
  typesIn(schema).includes('object') && !hasAny(schema, memberKeywords)
    ? { ...schema, additionalProperties: true }
    : schema

/**
 * Allows in the other properties of an object also what its named properties allow. An index signature applies to all
 * names, so that without this no object would have both.
 */
function withOtherMembers(schema: Node): Node {
  const { properties, patternProperties, additionalProperties: others, ...rest } = schema
  const described = [...(isNode(others) ? [others] : []), ...Object.values(Object(patternProperties))]
  if (!isNode(properties) || described.length === 0 || acceptsAll(others) || others === true) return schema
  const all = [...described, ...Object.values(properties)].filter((one) => one !== false && one !== never)
  const different = new Map(all.map((one) => [stringifyJson(one), one]))
  const [first] = different.values()
  const index = different.size === 1 ? first : { anyOf: [...different.values()] }
  return { ...rest, properties, additionalProperties: index }
}

/** The maximum number of members that all alternatives together forbid, so that the types stay small. */
const maxForbidden = 64

/**
 * Returns the alternatives of an anyOf or oneOf, of which each closed object forbids the members of the others: the
 * compiler would accept an object with the members of two of them, which no alternative allows.
 */
function withoutMixture(alternatives: unknown, resolve: ($ref: string) => unknown): unknown {
  if (!Array.isArray(alternatives)) return alternatives
  const closed = alternatives.map((one) => closedNames(one, resolve))
  const all = [...new Set(closed.flatMap((names) => names ?? []))]
  const forbidden = closed.map((own) => (own === undefined ? [] : all.filter((name) => !own.includes(name))))
  const count = forbidden.flat().length
  if (count === 0 || count > maxForbidden) return alternatives
  return alternatives.map((one, index) => withoutMembers(one, forbidden[index] as string[]))
}

function withoutMembers(schema: unknown, names: string[]): unknown {
  if (names.length === 0) return schema
  const properties = Object.fromEntries(names.map((name) => [name, false]))
  return { allOf: [schema, { type: 'object', properties }] }
}

/** Returns the names of the members that a closed object may have; undefined for any other schema. */
function closedNames(schema: unknown, resolve: ($ref: string) => unknown): string[] | undefined {
  if (!isNode(schema)) return undefined
  if (typeof schema.$ref === 'string' && Object.keys(schema).length === 1) {
    const target = resolve(schema.$ref)
    return isNode(target) && target.$ref === undefined ? closedNames(target, resolve) : undefined
  }
  const { type, properties, patternProperties, allOf, anyOf, oneOf, $ref } = schema
  const isClosed = schema.additionalProperties === false || schema.unevaluatedProperties === false
  const isComposed = [patternProperties, allOf, anyOf, oneOf, $ref].some((keyword) => keyword !== undefined)
  return type === 'object' && isClosed && !isComposed ? Object.keys(Object(properties)) : undefined
}
