/** A JSON Schema 2020-12 schema of a contract: a $ref is the name of a shared schema followed by `#`. */
export type Schema = boolean | { readonly [keyword: string]: unknown }

/** How a keyword holds schemas: one schema, a list of schemas, or schemas by name. */
export type SchemaShape = 'one' | 'list' | 'map'

/**
 * The keywords that hold schemas (JSON Schema 2020-12, core, sections 8.2.4, 10 and 11; validation, section 8.5). The
 * value of any other keyword is plain data, even if it looks like a schema.
 */
export const schemaKeywords: Readonly<Record<string, SchemaShape>> = {
  $defs: 'map',
  definitions: 'map',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  not: 'one',
  if: 'one',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'one',
  else: 'one',
  dependentSchemas: 'map',
  dependencies: 'map',
  prefixItems: 'list',
  items: 'one',
  contains: 'one',
  properties: 'map',
  patternProperties: 'map',
  additionalProperties: 'one',
  propertyNames: 'one',
  unevaluatedItems: 'one',
  unevaluatedProperties: 'one',
  contentSchema: 'one',
}

/** The keywords that only document a schema (JSON Schema 2020-12, validation, section 9; OpenAPI 3.1, section 4.8.24). */
export const documentationKeywords = ['title', 'description', '$comment', 'example', 'examples', 'externalDocs', 'xml']

/** The keywords that reject no value (validation, section 9). */
export const annotationKeywords = [...documentationKeywords, 'default', 'deprecated', 'readOnly', 'writeOnly']

/** Returns whether a keyword of a document only documents a schema. */
export const isDocumentation = (keyword: string): boolean =>
  documentationKeywords.includes(keyword) || keyword.startsWith('x-')

/** Returns whether a keyword of a document rejects no value. */
export const isAnnotation = (keyword: string): boolean =>
  annotationKeywords.includes(keyword) || keyword.startsWith('x-')

/** The keywords whose schemas describe the value itself, not a part of it (core, section 10.2). */
export const inPlaceKeywords = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']

/** Returns the schemas that a keyword of a schema holds; an empty list if the keyword is absent. */
export function schemasIn(schema: Exclude<Schema, boolean>, keyword: string): Schema[] {
  const value = schema[keyword]
  if (value === undefined || value === null) return []
  if (schemaKeywords[keyword] === 'one') return [value as Schema]
  return Object.values(value as Schema[] | Record<string, Schema>)
}

/** The values of the keyword `type` (JSON Schema 2020-12, validation, section 6.1.1). */
export const allTypes = ['null', 'boolean', 'string', 'integer', 'number', 'array', 'object']

/** Returns whether each schema allows a type. An integer is a number. */
export const allowsType = (schemas: Exclude<Schema, boolean>[], type: string): boolean =>
  schemas
    .map(({ type: allowed = allTypes }) => [allowed as string | string[]].flat())
    .every((types) => types.includes(type) || (type === 'integer' && types.includes('number')))
