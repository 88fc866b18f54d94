import {
  essenceOf,
  type Form,
  type FormField,
  isAnnotation,
  requestKindOf,
  type Schema,
  schemasIn,
} from 'fastify-contract/contract'
import { isIgnored } from 'fastify-contract/schema'
import { discriminatorNames, ignoredNamesOf, inPlace } from './directions.ts'
import type { Document, Encoding, MediaType } from './openapi-document.ts'
import { otherTypes, propertyNames, schemasDescribing, typesOf } from './schemas.ts'
import { certainPlaces, serializedValue } from './styled-values.ts'
import { isPlainList, isTime } from './value-texts.ts'
import type { Node } from './walk-document.ts'

/** A property of a form as a document describes it. */
export type FormProperty = { name: string; schema: Schema; encoding: Encoding }

/** Returns whether a media type is that of a form: URL-encoded or multipart/form-data. */
export const isForm = (mediaType: string): boolean => ['form', 'multipart'].includes(requestKindOf(mediaType))

/**
 * Returns the properties that the schema of a form names, including those of its subschemas. It leaves out those that
 * are ignored in a request: the service treats them as fields that the schema does not name, and does not read their
 * values.
 */
export function formProperties(document: Document, { schema = true, encoding = {} }: MediaType): FormProperty[] {
  const discriminators = discriminatorNames(inPlace(document, schema))
  const ignored = ignoredNamesOf(document, 'request')(schema)
  const parts = schemasDescribing(document, [schema])
  const found: FormProperty[] = []
  for (const name of propertyNames(document, schema)) {
    const described: Schema[] = []
    for (const { properties } of parts) {
      const own = Object.hasOwn(Object(properties), name) ? (properties as Record<string, Schema>)[name] : undefined
      // `withDirections` has replaced the schemas of ignored properties, if it ran before.
      if (own !== undefined && !isIgnored(own)) described.push(own)
    }
    if (described.length === 0 || (ignored.has(name) && !discriminators.has(name))) continue
    const own = Object.hasOwn(encoding, name) ? (encoding[name] as Encoding) : {}
    // Which subschema applies depends on the other fields, so any may match here. Validation of the whole form decides.
    found.push({ name, schema: anyOf(described), encoding: own })
  }
  return found
}

/** Returns a schema that allows what any of the given schemas allows; true if there are none. */
const anyOf = ([first = true, ...more]: Schema[]): Schema => (more.length === 0 ? first : { anyOf: [first, ...more] })

/** Returns how the service parses a form. `convert` converts a schema of the document to one of the service. */
export function formOf(
  document: Document,
  mediaType: string,
  media: MediaType,
  convert: (schema: Schema) => Schema = (schema) => schema,
): Form {
  const properties = formProperties(document, media)
  const isMultipart = requestKindOf(mediaType) === 'multipart'
  const fields = properties.map((property) =>
    isMultipart ? partField(document, property, convert) : urlencodedField(document, property),
  )
  const open = isMultipart ? openPart(document, media) : undefined
  return {
    fields,
    otherTypes: [...new Set(otherTypes(document, media.schema).flat())],
    ...(open && {
      otherParts: {
        field: partField(document, open, convert),
        skipped: propertyNames(document, media.schema ?? true).filter((name) =>
          properties.every((property) => property.name !== name),
        ),
      },
    }),
  }
}

/**
 * Returns how `additionalProperties` describes the parts of a multipart form that its schema does not name; undefined if
 * it does not constrain them.
 */
export function openPart(document: Document, { schema = true }: MediaType): FormProperty | undefined {
  const described = schemasDescribing(document, [schema])
    .flatMap((part) => schemasIn(part, 'additionalProperties'))
    .filter((each) => Object.keys(Object(each)).length > 0)
  return described.length === 0 ? undefined : { name: '', schema: anyOf(described), encoding: {} }
}

/**
 * Returns whether a property has a style. If not, its media type determines its format (OpenAPI 3.1 section 4.8.15.1).
 */
export const isStyled = ({ style, explode, allowReserved }: Encoding): boolean =>
  style !== undefined || explode !== undefined || allowReserved !== undefined

/** Returns the media types that the encoding of a property names. */
export const mediaTypesOf = ({ contentType }: Encoding): string[] =>
  (contentType ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '')

/** Returns whether a property is JSON: by its media types, or without any if its schema allows objects or arrays. */
const isJson = (mediaTypes: string[], isComposed: boolean): boolean =>
  mediaTypes.length === 0 ? isComposed : mediaTypes.some((each) => requestKindOf(each) === 'json')

function urlencodedField(document: Document, { name, schema, encoding }: FormProperty): FormField {
  const { style = 'form', explode } = encoding
  const value = serializedValue(document, { name, schema, style, ...(explode !== undefined && { explode }) })
  // Without a style, an array has one text for each item.
  const isObject = typesOf(document, schema).types.includes('object')
  if (isStyled(encoding) || !isJson(mediaTypesOf(encoding), isObject)) return value
  return { ...serializedValue(document, { name, style }), kind: 'json', ...certainPlaces(document, schema) }
}

function partField(
  document: Document,
  { name, schema, encoding }: FormProperty,
  convert: (schema: Schema) => Schema,
): FormField {
  const { isItem, schema: each } = partSchema(document, schema)
  const mediaTypes = mediaTypesOf(encoding)
  const file = isFile(document, each, mediaTypes)
  const { types } = typesOf(document, each)
  const isComposed = types.includes('object') || types.includes('array')
  return {
    ...serializedValue(document, { name, style: 'form' }),
    types,
    ...(isItem && isPlainList(document, schema) && { isPlain: true as const }),
    ...(isTime(document, schema) && { isTime: true as const }),
    kind: !file && isJson(mediaTypes, isComposed) ? 'json' : 'scalar',
    part: {
      ...(file && { isFile: true }),
      ...(isItem && { isItem: true }),
      ...(mediaTypes.length > 0 && { mediaTypes: mediaTypes.map(essenceOf) }),
      schema: file ? true : convert(each),
    },
  }
}

/** Returns the schema of one part of a property: an array has a part for each item (OpenAPI 3.1 section 4.8.15.1). */
export function partSchema(document: Document, schema: Schema): { isItem: boolean; schema: Schema } {
  if (!typesOf(document, schema).types.includes('array')) return { isItem: false, schema }
  const parts = schemasDescribing(document, [schema])
  return { isItem: true, schema: anyOf(parts.flatMap((part) => schemasIn(part, 'items'))) }
}

/** Returns whether a schema does not constrain its values. */
export const isFree = (document: Document, schema: Schema): boolean =>
  schemasDescribing(document, [schema]).every((each) =>
    Object.keys(each).every((keyword) => isAnnotation(keyword) || keyword === '$ref'),
  )

/**
 * Returns whether a schema describes bytes. OpenAPI 3.0 marks them by the format (section 4.7.14.2), 3.1 by the media
 * type of the content (section 4.8.14.3).
 */
const isBinary = ({ format, contentMediaType, contentEncoding }: Node): boolean =>
  format === 'binary' ||
  (typeof contentMediaType === 'string' && contentEncoding === undefined && requestKindOf(contentMediaType) === 'bytes')

/** Returns whether values of a schema are bytes. */
export const holdsBytes = (document: Document, schema: Schema): boolean =>
  schemasDescribing(document, [schema]).some(isBinary)

/** Returns whether a part of a form is a file: by its schema, by its media types, or because nothing constrains it. */
export const isFile = (document: Document, schema: Schema, mediaTypes: string[]): boolean =>
  holdsBytes(document, schema) ||
  (mediaTypes.length > 0 ? mediaTypes.some((each) => requestKindOf(each) === 'bytes') : isFree(document, schema))
