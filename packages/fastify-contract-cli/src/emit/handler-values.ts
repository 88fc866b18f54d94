import { kindOf, type Schema, schemasIn } from 'fastify-contract/contract'
import { headersOf, isGiven } from '../document/contents.ts'
import type { Document, Endpoint, MediaTypes } from '../document/openapi-document.ts'
import { defaultOf, schemaOf } from '../document/parameter-objects.ts'
import { commonTypes, isInt64, membersOf, schemasDescribing } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { memberOf } from '../text/source-text.ts'

/** What a document says about a value that a handler gets or returns. */
export type HandlerValue = {
  /** The expression for the value in a handler; empty for a response as a whole. */
  name: string
  /** The response that has it; undefined in a request. */
  status?: string | undefined
  /** The number of values around it. */
  level: number
  /** The key of the value that contains it. */
  parent?: string | undefined
  isRequired: boolean
  /** Whether only `required` names it. */
  isUndescribed: boolean
  types: string
  /** The other keywords that limit it, each with its values. */
  limits: Record<string, unknown[]>
}

/** The values in one value after which no further level of members is described. */
const maxValues = 100

/** A value to describe, with the schemas of it and of those that contain it. */
export type Described = Pick<HandlerValue, 'name' | 'status' | 'parent' | 'isRequired'> & {
  key: string
  schemas: Schema[]
  /** The parts of the values around it: a schema may contain itself. */
  above: Node[][]
}

/** How much may still be described. */
export type Work = { left: number }

/** A value and those in it, by keys that are the same in each version of a document. */
export type HandlerValues = {
  values: Map<string, HandlerValue>
  /** How many levels of members are described: Infinity for all of them. */
  levels: number
}

/**
 * Returns a function that describes a value and its members, none for no value, or returns undefined if no work is left.
 * A member is a value of its own, whichever part of a schema describes it. After 100 values, no further level of members is
 * described.
 */
export function valueReader(
  document: Document,
  work: Work,
): (outer: Described | undefined) => HandlerValues | undefined {
  const shapes = new Map<Schema | Schema[], Shape>()
  return withMembers

  function withMembers(outer: Described | undefined): HandlerValues | undefined {
    const values: HandlerValues['values'] = new Map()
    let described = outer === undefined ? [] : [outer]
    for (let level = 0; described.length > 0; level++) {
      if (values.size >= maxValues) return { values, levels: level }
      const below: Described[] = []
      for (const each of described) {
        if (work.left <= 0) return undefined
        for (const member of describe(each, level, values)) below.push(member)
      }
      described = below
    }
    return { values, levels: Number.POSITIVE_INFINITY }
  }

  /** Adds a value, and returns its members. */
  function describe(each: Described, level: number, values: HandlerValues['values']): Described[] {
    const { key, above, schemas, ...value } = each
    const { parts, types, limits, members, items, size } = shapeOf(schemas)
    work.left -= size
    if (parts.some((part) => part[value.status === undefined ? 'readOnly' : 'writeOnly'] === true)) return []
    values.set(key, { ...value, level, types, limits, isUndescribed: schemas.length === 0 })
    const own = new Set(parts)
    if (above.some((outer) => outer.some((part) => own.has(part)))) return []
    const below = { status: value.status, parent: key, above: [...above, parts] }
    const found: Described[] = []
    for (const { name, isRequired, schemas } of members)
      found.push({ ...below, key: memberOf(key, name), name: memberOf(value.name, name), isRequired, schemas })
    if (items.length > 0)
      found.push({ ...below, key: `${key}[]`, name: `${value.name}[]`, isRequired: true, schemas: items })
    return found
  }

  /** Most schemas describe values of many operations. Those of a member that several parts describe have one list. */
  function shapeOf(schemas: Schema[]): Shape {
    const key = schemas.length === 1 ? (schemas[0] as Schema) : schemas
    const shape = shapes.get(key) ?? readShape(document, schemas)
    shapes.set(key, shape)
    return shape
  }
}

/** Returns the parameters, the bodies, the responses and their headers of an operation. */
export function outerValues(
  document: Document,
  { parameters, requestBody, responses }: Endpoint,
): Map<string, Described> {
  const values: Described[] = []
  for (const parameter of parameters) {
    const { in: holder, name } = parameter
    const isRequired = parameter.required === true || 'default' in defaultOf(document, parameter)
    const key = memberOf(holder, holder === 'header' ? name.toLowerCase() : name)
    values.push({ key, name: memberOf(holder, name), isRequired, schemas: [schemaOf(parameter)], above: [] })
  }
  if (requestBody !== undefined) values.push(...bodies(requestBody.content, undefined, requestBody.required === true))
  for (const [status, response] of Object.entries(responses)) {
    values.push({ key: status, name: '', status, isRequired: false, schemas: [true], above: [] })
    for (const [name, { required: isRequired = false, schema = true }] of headersOf(document, response)) {
      const key = `${status} ${memberOf('headers', name.toLowerCase())}`
      const header = { key, name: memberOf('headers', name), status, parent: status }
      if (isGiven(name)) values.push({ ...header, isRequired, schemas: [schema], above: [] })
    }
    values.push(...bodies(response.content ?? {}, status, true))
  }
  return new Map(values.map((value) => [value.key, value]))
}

/** Returns the body of each media type; the first one of JSON has no media type in its name. */
function bodies(content: MediaTypes, status: string | undefined, isRequired: boolean): Described[] {
  const first = Object.keys(content).find((mediaType) => kindOf(mediaType) === 'json')
  return Object.entries(content).map(function bodyOf([mediaType, { schema = true }]) {
    const name = mediaType === first ? 'body' : `body (${mediaType})`
    return { key: `${status ?? ''} ${name}`, name, status, parent: status, isRequired, schemas: [schema], above: [] }
  })
}

/** What schemas say about one value, and the schemas of its members and items. */
type Shape = Pick<HandlerValue, 'types' | 'limits'> & {
  /** The schemas that apply together, without alternatives. */
  parts: Node[]
  /** A member that only `required` names has no schemas. */
  members: { name: string; isRequired: boolean; schemas: Schema[] }[]
  items: Schema[]
  /** The work of describing it: its schemas, members and listed values. */
  size: number
}

function readShape(document: Document, schemas: Schema[]): Shape {
  const parts = schemasDescribing(document, schemas, ['allOf'])
  const all = schemasDescribing(document, schemas)
  const required = new Set(parts.flatMap((part) => (part.required ?? []) as string[]))
  const members: Shape['members'] = []
  for (const [name, held] of membersOf(all)) members.push({ name, isRequired: required.delete(name), schemas: held })
  for (const name of required) members.push({ name, isRequired: true, schemas: [] })
  const items = all.flatMap((part) => schemasIn(part, 'items'))
  const listed = all.reduce((sum, part) => sum + (Array.isArray(part.enum) ? part.enum.length : 0), 0)
  const size = 1 + parts.length + all.length + members.length + listed
  return { parts, members, items, types: typesOf(parts, all), limits: limitsOf(all), size }
}

const anyValue = 'any value'

/** Returns the types that all parts of a schema allow together, or else those that its alternatives allow. */
function typesOf(parts: Node[], all: Node[]): string {
  const types = commonTypes(parts) ?? [...new Set(all.flatMap(({ type }) => (type === undefined ? [] : [type].flat())))]
  const int64 = all.some((schema) => isInt64(schema)) ? ' (int64)' : ''
  return types.length === 0 ? anyValue : types.map(String).sort().join(' or ') + int64
}

/** The keywords that limit a value beside its type. */
const limiting = [
  'enum',
  'const',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]

function limitsOf(all: Node[]): HandlerValue['limits'] {
  const limits: HandlerValue['limits'] = {}
  for (const keyword of limiting) {
    const values = all.flatMap((schema) => (schema[keyword] === undefined ? [] : [schema[keyword]]))
    if (values.length > 0 && !(keyword === 'format' && values.includes('int64'))) limits[keyword] = values
  }
  return limits
}
