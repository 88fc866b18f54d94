import { type NestedPlace, type Schema, type SerializedValue, schemasIn } from 'fastify-contract/contract'
import type { Document } from './openapi-document.ts'
import {
  isOpen,
  isReadAlike,
  type JsonType,
  memberSchemas,
  otherTypes,
  propertyNames,
  propertyTypes,
  run,
  type Steps,
  schemaKeys,
  schemasDescribing,
  typesOf,
  unnamedSchemas,
} from './schemas.ts'
import { isPlainList, isTime } from './value-texts.ts'
import type { Node } from './walk-document.ts'

/** A value that is written in an OpenAPI style: a parameter, or a field of a form. */
type Styled = { name: string; schema?: Schema; style: string; explode?: boolean }

/** Returns the default of explode for a style. */
export const isExploded = (style: string): boolean => style === 'form' || style === 'deepObject'

/** Returns the description of how the service parses a value from text. */
export function serializedValue(
  document: Document,
  { name, schema, style, explode = isExploded(style) }: Styled,
): SerializedValue {
  const { types, items } = typesOf(document, schema)
  if (hasNestedProperties(document, schema, { style, explode })) style = 'deepObject'
  const text = { name, key: name, style, explode } as Pick<SerializedValue, 'name' | 'key' | 'style' | 'explode'>
  if (style === 'deepObject' || (style === 'form' && explode && !types.includes('object') && isNested(items))) {
    return { ...text, kind: 'nested', types: [], places: nestedPlaces(document, schema).places }
  }
  if (!types.includes('object')) {
    const time = isTime(document, schema) ? { isTime: true as const } : {}
    if (!types.includes('array')) return { ...text, kind: 'scalar', types, ...time }
    const isPlain = isPlainList(document, schema)
    const scalarTypes = types.filter((type) => type !== 'array')
    // An empty text is a list of an empty string rather than null.
    const isAlsoScalar = scalarTypes.length > 0 && (isPlain || scalarTypes.join() !== 'null')
    return {
      ...text,
      kind: 'array',
      types: items,
      ...(isAlsoScalar && { scalarTypes }),
      ...(isPlain && { isPlain }),
      ...time,
    }
  }
  const properties = propertyNames(document, schema).map((name) => [
    name,
    [...new Set(propertyTypes(document, schema, name).flat())],
  ])
  const isSeparate = style === 'form' && explode
  const acceptsAnyName = isSeparate && isOpen(document, schema)
  const scalarTypes = types.filter((type) => type !== 'object')
  const isAlsoScalar =
    isSeparate &&
    !acceptsAnyName &&
    scalarTypes.some((type) => type !== 'null') &&
    !scalarTypes.includes('array') &&
    properties.every(([property]) => property !== name)
  // Clients also write such objects with names in brackets, or as JSON.
  const isWrittenOtherwise = ['form', 'spaceDelimited', 'pipeDelimited', 'simple'].includes(style) && !acceptsAnyName
  return {
    ...text,
    kind: 'object',
    types: [...new Set(otherTypes(document, schema).flat())],
    properties: Object.fromEntries(properties),
    ...(isWrittenOtherwise && certainPlaces(document, schema)),
    ...(acceptsAnyName && { acceptsAnyName }),
    ...(isAlsoScalar && { scalarTypes }),
  }
}

/**
 * Returns whether a value is an exploded object with objects or arrays in it, which the style form cannot write. It is
 * read as in the style deepObject.
 */
export function hasNestedProperties(
  document: Document,
  schema: Schema | undefined,
  { style, explode }: { style: string; explode: boolean },
): boolean {
  if (style !== 'form' || !explode || !typesOf(document, schema).types.includes('object')) return false
  const named = propertyNames(document, schema).flatMap((name) => propertyTypes(document, schema, name))
  return [...named, ...otherTypes(document, schema)].some(isNested)
}

/** Returns whether some of the types have members or items. */
export const isNested = (types: JsonType[]): boolean => types.some((type) => type === 'object' || type === 'array')

/** The index of a place that may be anything. */
const free = -1

/**
 * Returns the places of a value in the style deepObject, and a problem for each member that could not be read as
 * described.
 */
export function nestedPlaces(
  document: Document,
  schema: Schema | undefined,
): { places: NestedPlace[]; problems: string[] } {
  const places: NestedPlace[] = []
  const problems: string[] = []
  const indexes = new Map<string, number>()
  const keyOf = schemaKeys()
  run(placeOf([[schema]], ''))
  return { places, problems }

  /** Returns the index of the place that these schemas describe; those of one group stand in one part of its holder. */
  function* placeOf(groups: unknown[][], name: string): Steps<number | undefined> {
    const schemas = schemasDescribing(document, groups.flat())
    if (schemas.length === 0) return undefined
    // A schema may contain itself, so the same schemas share one place.
    const key = keyOf(schemas)
    const known = indexes.get(key)
    if (known !== undefined) return known
    const types = groups.map((group) => typesOf(document, { anyOf: group }).types)
    if (!isReadAlike(types.filter(({ length }) => length > 0)))
      problems.push(`${name} has several types that a string cannot distinguish`)
    const place: NestedPlace = { types: [...new Set(types.flat())] }
    const index = places.push(place) - 1
    indexes.set(key, index)
    const members: [string, number][] = []
    for (const member of propertyNames(document, { anyOf: schemas })) {
      if (/[[\]]/.test(member)) problems.push(`property ${member} contains a bracket, which ends a name`)
      const named = schemas.map((part) => memberSchemas(membersOf(part), member))
      members.push([member, (yield placeOf(named, `${name}[${member}]`)) ?? free])
    }
    if (members.length > 0) place.members = Object.fromEntries(members)
    const others = yield placeOf(schemas.flatMap(otherSchemas), `${name}[*]`)
    if (others !== undefined) place.others = others
    const items = yield placeOf(schemas.flatMap(itemSchemas), `${name}[]`)
    if (items !== undefined) place.items = items
    return index
  }
}

/** Returns the places of a value that may only be an object, if each text in it has one reading; otherwise nothing. */
export function certainPlaces(document: Document, schema: Schema | undefined): { places?: NestedPlace[] } {
  if (typesOf(document, schema).types.some((type) => type !== 'object' && type !== 'null')) return {}
  const { places, problems } = nestedPlaces(document, schema)
  return problems.length > 0 ? {} : { places }
}

/** Returns the keywords of a schema that describe named members; unevaluatedProperties never applies to them. */
const membersOf = ({ properties, patternProperties, additionalProperties }: Node): Node => ({
  properties,
  patternProperties,
  additionalProperties,
})

const otherSchemas = ({ patternProperties, additionalProperties, unevaluatedProperties }: Node): Schema[][] =>
  unnamedSchemas({ patternProperties, additionalProperties, unevaluatedProperties }).map((one) => [one])

const itemSchemas = (schema: Node): Schema[][] =>
  ['prefixItems', 'items', 'unevaluatedItems'].flatMap((keyword) => schemasIn(schema, keyword).map((one) => [one]))
