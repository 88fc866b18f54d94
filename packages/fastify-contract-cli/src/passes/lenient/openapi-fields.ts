import { type Kind, memberNames, type Node } from '../../document/walk-document.ts'
import type { FieldType } from './field-types.ts'

/** The keywords of a schema that count characters, items or properties. */
const counting = ['Length', 'Items', 'Properties', 'Contains'].flatMap((what) => [`min${what}`, `max${what}`])

const words = { summary: 'word', description: 'word' } as const
const styled = { required: 'flag', style: 'style', explode: 'flag' } as const

/** The fields that the generator reads, by the kind of their object, except those that hold other objects. */
const readFields: Partial<Record<Kind, Record<string, FieldType>>> = {
  document: { openapi: 'version', info: 'info', servers: 'servers', security: 'security' },
  pathItem: { ...words, servers: 'servers' },
  operation: { ...words, operationId: 'text', servers: 'servers', security: 'security', tags: 'tags' },
  parameter: { ...words, ...styled, name: 'text', in: 'location' },
  requestBody: { ...words, required: 'flag' },
  response: words,
  header: { ...words, ...styled },
  encoding: { contentType: 'text', style: 'style', explode: 'flag', allowReserved: 'flag' },
  securityScheme: { description: 'word', type: 'schemeType', scheme: 'text', in: 'keyLocation', name: 'text' },
  schema: {
    ...words,
    $id: 'text',
    title: 'word',
    type: 'type',
    format: 'text',
    pattern: 'text',
    required: 'names',
    enum: 'values',
    minimum: 'number',
    maximum: 'number',
    multipleOf: 'divisor',
    ...Object.fromEntries(counting.map((keyword) => [keyword, 'count'] as const)),
    exclusiveMinimum: 'limit',
    exclusiveMaximum: 'limit',
    uniqueItems: 'flag',
    nullable: 'flag',
    readOnly: 'flag',
    writeOnly: 'flag',
    dependentRequired: 'textLists',
    discriminator: 'discriminator',
  },
}

/** The fields that an object must have. */
const required: Partial<Record<Kind, string[]>> = {
  document: ['openapi', 'info'],
  parameter: ['name', 'in'],
  securityScheme: ['type'],
}

/** The other fields of OpenAPI 3.0, 3.1 and 3.2, which the generator does not check. */
const otherFields: Record<Kind, string> = {
  document: '$self jsonSchemaDialect tags externalDocs',
  components: 'links',
  pathItem: '$ref',
  operation: 'externalDocs deprecated',
  parameter: 'deprecated allowEmptyValue allowReserved example',
  header: 'deprecated allowEmptyValue allowReserved example',
  requestBody: '',
  response: 'links',
  mediaType: 'example description',
  encoding: '',
  example: 'summary description value externalValue dataValue serializedValue',
  securityScheme: 'bearerFormat flows openIdConnectUrl oauth2MetadataUrl deprecated',
  callback: '',
  schema:
    '$schema $anchor $ref $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment const ' +
    'contentEncoding contentMediaType default deprecated example examples externalDocs xml id additionalItems',
}

const typesOfFields = new Map(
  Object.entries(readFields).map(([kind, fields]) => [kind as Kind, new Map(Object.entries(fields))]),
)

const none: ReadonlyMap<string, FieldType> = new Map()

/** Returns the fields that the generator reads of an object, with the types of their values. */
export const fieldsOf = (kind: Kind): ReadonlyMap<string, FieldType> => typesOfFields.get(kind) ?? none

const allFields = new Map(
  Object.entries(otherFields).map(([kind, others]) => [
    kind as Kind,
    new Set([...memberNames(kind as Kind), ...fieldsOf(kind as Kind).keys(), ...others.split(' ')]),
  ]),
)

/** The fields that a security scheme must have, by its type. */
const requiredOfSchemes: Record<string, string[]> = { http: ['scheme'], apiKey: ['in', 'name'] }

/** Returns the fields that an object of a kind must have. */
export function requiredFields(kind: Kind, { type }: Node): string[] {
  const more = kind === 'securityScheme' ? requiredOfSchemes[String(type)] : undefined
  return more === undefined ? (required[kind] ?? []) : [...(required[kind] ?? []), ...more]
}

/** Returns whether OpenAPI defines a field for objects of a kind, or allows it as an extension. */
export const isField = (kind: Kind, name: string): boolean =>
  kind === 'callback' || allFields.get(kind)?.has(name) === true || name.startsWith('x-')

/** Returns all fields of objects of a kind. */
export const fieldNames = (kind: Kind): string[] => [...(allFields.get(kind) ?? [])]

/** What OpenAPI 3 has in place of fields of Swagger 2.0, and of short names. */
const replacements: Record<string, string> = {
  collectionFormat: 'style and explode',
  consumes: 'the content of requestBody',
  produces: 'the content of responses',
  schema: 'content',
  host: 'servers',
  basePath: 'servers',
  schemes: 'servers',
  definitions: 'components, schemas',
  securityDefinitions: 'components, securitySchemes',
  min: 'minimum',
  max: 'maximum',
}

/** Returns what to write in place of a field that OpenAPI does not define, if its author's meaning is known. */
export function replacementOf(kind: Kind, name: string): string | undefined {
  const lower = name.toLowerCase()
  // The singular of a keyword, such as item, is often the name of a property.
  const names = kind === 'schema' ? [lower] : [lower, `${lower}s`]
  const alike = fieldNames(kind).find((one) => names.includes(one.toLowerCase()))
  if (alike !== undefined || Object.hasOwn(replacements, name)) return alike ?? replacements[name]
  return kind === 'operation' && name === 'body' ? 'requestBody' : undefined
}

const kindNames: Partial<Record<Kind, string>> = {
  document: 'the document',
  components: 'components',
  pathItem: 'a path item',
  operation: 'an operation',
  requestBody: 'a request body',
  mediaType: 'a media type',
  encoding: 'an encoding',
  example: 'an example',
  securityScheme: 'a security scheme',
}

/** Returns the name of a kind of objects for messages. */
export const nameOfKind = (kind: Kind): string => kindNames[kind] ?? `a ${kind}`
