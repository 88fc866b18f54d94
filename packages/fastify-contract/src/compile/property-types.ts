import { type Schema, schemasIn } from '../serve/schema-keywords.ts'
import { branches, memberSchemas } from './int64-responses.ts'
import type { Document } from './openapi-document.ts'
import { type JsonType, schemasDescribing, typesOf } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/** Keywords that describe the properties that a schema does not name. */
const unnamed = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']

const parts = (document: Document, schema: Schema | undefined): Node[] =>
  schemasDescribing(document, [schema], branches)

/** Returns the names of the properties that a schema or its subschemas name. */
export const propertyNames = (document: Document, schema: Schema | undefined): string[] => [
  ...new Set(parts(document, schema).flatMap(({ properties }) => Object.keys(Object(properties)))),
]

/**
 * Returns the schemas of a named property in each part of a schema. Ignores unevaluatedProperties, which never applies
 * to a named property.
 */
export const propertySchemas = (document: Document, schema: Schema | undefined, name: string): Schema[][] =>
  parts(document, schema).map((part) => memberSchemas({ ...part, unevaluatedProperties: undefined }, name))

/** Returns the types of a property in each part of a schema that limits them. */
export const propertyTypes = (document: Document, schema: Schema | undefined, name: string): JsonType[][] =>
  typesIn(document, propertySchemas(document, schema, name))

/** Returns the types of the properties that a schema does not name, in each part of it that limits them. */
export const otherTypes = (document: Document, schema: Schema | undefined): JsonType[][] =>
  typesIn(
    document,
    parts(document, schema).flatMap((part) =>
      unnamed.flatMap((keyword) => schemasIn(part, keyword).map((one) => [one])),
    ),
  )

const typesIn = (document: Document, all: Schema[][]): JsonType[][] =>
  all
    .map((schemas) => [...new Set(schemas.flatMap((schema) => typesOf(document, schema).types))])
    .filter(({ length }) => length > 0)

/** Returns whether a schema describes properties that it does not name. */
export const isOpen = (document: Document, schema: Schema | undefined): boolean =>
  parts(document, schema).some((part) =>
    unnamed.some((keyword) => schemasIn(part, keyword).some((one) => one !== false)),
  )

/** Returns whether every text is parsed to the same value with each of the lists of types. */
export const isReadAlike = (all: JsonType[][]): boolean =>
  new Set(
    all.map((types) =>
      [
        types.some((type) => type === 'integer' || type === 'number'),
        types.includes('boolean'),
        types.includes('null') && !types.includes('string'),
      ].join(),
    ),
  ).size < 2
