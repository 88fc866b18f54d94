import { isDeepStrictEqual } from 'node:util'
import type { HandlerResponse } from 'fastify-contract/contract'
import { isRange, kindOf, rangeOf, responseKey } from 'fastify-contract/contract'
import { headersOf } from '../document/contents.ts'
import { resolve } from '../document/json-pointer.ts'
import type { Document, Endpoint, Located, Response } from '../document/openapi-document.ts'
import { isBigint, isFraction, schemasDescribing } from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { isExampleStream } from '../examples/examples.ts'
import { fileFormat, presentType } from '../typescript/schema-types.ts'
import { typedSchema } from './typed-schemas.ts'

/**
 * The maximum number of schemas that one value is compared with. Only a type with many unions takes more; its values then
 * count as not assignable.
 */
const maxWork = 20_000

/** Returns whether TypeScript accepts a JSON value, with int64 as bigints, as a literal of the type of a schema. */
export type IsAssignable = (schema: unknown, value: unknown) => boolean

/**
 * Returns a function that tells whether a literal compiles as the type of a schema, without a compiler: it reads the
 * schemas from which the types are printed. The value must satisfy the schema, as its lengths are not looked at. A union
 * accepts a literal with the members of one alternative only; TypeScript sometimes accepts more.
 */
export function assignability(document: Document): IsAssignable {
  const typedSchemas = new WeakMap<Node, Node>()
  let work = 0
  return isAssignable

  function isAssignable(schema: unknown, value: unknown): boolean {
    work = maxWork
    return fits([schema], value)
  }

  /**
   * Returns whether a value has the types of all `schemas` and of all `plain` ones, which are neither references nor
   * composed. Those that are `expanded` already are not looked at again: many parts of a value may have the same schema.
   */
  function fits(schemas: unknown[], value: unknown, plain: Node[] = [], expanded = new Set<Node>()): boolean {
    const leaves = [...plain]
    const waiting = [...schemas]
    while (waiting.length > 0) {
      if (--work < 0) return false
      const schema = waiting.pop()
      if (schema === false || schema === undefined) return false
      if (!isNode(schema) || expanded.has(schema)) continue
      expanded.add(schema)
      const typed = typedOf(schema)
      const alternatives = alternativesOf(typed)
      if (alternatives !== undefined)
        return alternatives.some((one) => fits([...waiting, one], value, leaves, new Set(expanded)))
      if (typeof typed.$ref === 'string') waiting.push(resolve(document, typed.$ref))
      else if (Array.isArray(typed.allOf)) waiting.push(...typed.allOf)
      else leaves.push(typed)
    }
    if (Array.isArray(value)) return haveItems(leaves, value)
    return isNode(value) ? haveMembers(leaves, value) : leaves.every((leaf) => isScalarOf(leaf, value))
  }

  /** Returns the schema from which the type is printed. */
  function typedOf(schema: Node): Node {
    const typed = typedSchemas.get(schema) ?? typedSchema(document, schema)
    typedSchemas.set(schema, typed)
    return typed
  }

  /** Returns the members of a union. One of several types is a member of its own. */
  function alternativesOf(typed: Node): unknown[] | undefined {
    if (Array.isArray(typed.anyOf)) return typed.anyOf
    if (!Array.isArray(typed.type) || isListed(typed) || isBigint(typed)) return undefined
    return typed.type.map(function ofType(type) {
      const one = { ...typed, type }
      typedSchemas.set(one, one)
      return one
    })
  }

  function haveItems(leaves: Node[], items: unknown[]): boolean {
    const arrays = leaves.filter((leaf) => leaf.type === 'array' && !isListed(leaf))
    if (!leaves.every((leaf) => arrays.includes(leaf) || isOpenTo(leaf, items))) return false
    return items.every((item, index) =>
      fits(
        arrays.map(({ prefixItems = [], items: others = true }) => (prefixItems as unknown[])[index] ?? others),
        item,
      ),
    )
  }

  function haveMembers(leaves: Node[], value: Node): boolean {
    const holders = leaves.filter(hasMembers)
    if (!leaves.every((leaf) => holders.includes(leaf) || isOpenTo(leaf, value))) return false
    if (holders.length === 0) return true
    if (holders.some((holder) => requiredOf(holder).some((name) => !Object.hasOwn(value, name)))) return false
    return Object.entries(value).every(function isMember([name, member]) {
      const named = holders.flatMap(({ properties }) => (isOwn(properties, name) ? [properties[name]] : []))
      const others = holders.flatMap(indexOf)
      // TypeScript rejects a member that no type of the literal names.
      if (named.length + others.length === 0) return false
      // An index signature applies to the named members, too.
      return (named.length === 0 || fits(named, member)) && (others.length === 0 || fits(others, member))
    })
  }
}

/** Returns a function that tells whether a response has the type of what the handler of an operation returns. */
export function returnability(document: Document) {
  const isAssignable = assignability(document)
  return isReturnable

  function isReturnable(
    { responses }: Endpoint,
    { status, headers = {}, contentType, body }: HandlerResponse,
  ): boolean {
    const key = responseKey(responses, status) as string
    // Beside other responses, `default` is for the errors that a handler throws.
    if (key === 'default' && Object.keys(responses).length > 1) return false
    const response = responses[key] as Located<Response>
    for (const [name, { schema = true }] of headersOf(document, response))
      if (Object.hasOwn(headers, name) && !isAssignable(schema, headers[name])) return false
    const content = response.content ?? {}
    const [first] = Object.keys(content)
    if (first === undefined) return body === undefined
    const type = contentType ?? first
    const mediaType = Object.hasOwn(content, type) ? type : (rangeOf(Object.keys(content), type) ?? first)
    return isBody(mediaType, content[mediaType]?.schema ?? true, body)
  }

  function isBody(mediaType: string, schema: unknown, body: unknown): boolean {
    if (body instanceof Uint8Array) return true
    const kind = kindOf(mediaType)
    if (isExampleStream(body))
      return body.items.every((item) => isAssignable(schema, kind === 'lines' ? item : Object(item).data))
    if (isAssignable(schema, body)) return true
    // Text is any string, unless its schema lists the strings that it may be.
    return typeof body === 'string' && (isRange(mediaType) || (kind === 'text' && !isLimited(schema)))
  }

  function isLimited(schema: unknown): boolean {
    return (
      schema === false || schemasDescribing(document, [schema]).some((one) => isListed(one) || one.not !== undefined)
    )
  }
}

/** Returns whether a schema lists its values. */
const isListed = (schema: Node): boolean => isConst(schema) || isEnum(schema)

/** A `const` of null is printed as an `enum`. */
const isConst = (schema: Node): boolean => schema.const !== undefined && schema.const !== null

/** openapi-typescript ignores an `enum` beside members. */
const isEnum = (schema: Node): boolean =>
  Array.isArray(schema.enum) &&
  schema.type !== 'object' &&
  schema.properties === undefined &&
  schema.additionalProperties === undefined

const listedIn = ({ const: value, enum: values, type }: Node): unknown[] =>
  value === undefined || value === null
    ? [...(values as unknown[]), ...([type].flat().includes('null') ? [null] : [])]
    : [value]

function isScalarOf(leaf: Node, value: unknown): boolean {
  const { type, format } = leaf
  if (isListed(leaf)) return listedIn(leaf).includes(value)
  if (type === presentType) return value !== undefined && (value !== null || leaf.not === undefined)
  if (type === undefined) return !hasMembers(leaf)
  if (isBigint(leaf))
    return typeof value === 'bigint' || (typeof value === 'number' && isFraction(leaf)) || isNull(type, value)
  if (type === 'null') return value === null
  if (type === 'integer' || type === 'number') return typeof value === 'number'
  return (type === 'string' || type === 'boolean') && typeof value === type && format !== fileFormat
}

const isNull = (type: unknown, value: unknown): boolean => value === null && [type].flat().includes('null')

/** Returns whether a type that names no members accepts an object or an array. */
function isOpenTo(leaf: Node, value: object): boolean {
  if (isListed(leaf)) return listedIn(leaf).some((one) => isDeepStrictEqual(one, value))
  if (leaf.type === undefined || leaf.type === presentType) return !hasMembers(leaf)
  // An object without members.
  return leaf.type === 'object' && !hasMembers(leaf) && !Array.isArray(value) && Object.keys(value).length === 0
}

const scalarTypes = ['string', 'number', 'integer', 'boolean', 'null', 'array', presentType]

/** Returns whether a type names members or has an index signature. */
const hasMembers = (leaf: Node): boolean =>
  !scalarTypes.includes(leaf.type as string) &&
  !isListed(leaf) &&
  leaf.enum === undefined &&
  (Object.keys(Object(leaf.properties)).length > 0 || indexOf(leaf).length > 0)

/** Returns the schema of the index signature of an object; none if it has none. */
function indexOf({ additionalProperties, patternProperties }: Node): unknown[] {
  const all = [...(additionalProperties ? [additionalProperties] : []), ...Object.values(Object(patternProperties))]
  return all.length > 1 ? [{ anyOf: all }] : all
}

const requiredOf = ({ required, properties }: Node): string[] =>
  [required ?? []].flat().filter((name) => isOwn(properties, name as string)) as string[]

const isOwn = (properties: unknown, name: string): properties is Node =>
  isNode(properties) && Object.hasOwn(properties, name)
