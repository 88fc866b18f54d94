import { type Kind, memberNames, memberOf } from '../document/walk-document.ts'
import type { FieldType } from './field-types.ts'

/** The keywords of a schema whose value is a number. */
const numeric = ['minimum', 'maximum', 'multipleOf'].concat(
  ['Length', 'Items', 'Properties', 'Contains'].flatMap((what) => [`min${what}`, `max${what}`]),
)

const words = { summary: 'word', description: 'word' } as const
const styled = { required: 'flag', style: 'text', explode: 'flag' } as const

/** The fields that the generator reads, by the kind of their object, except those that hold other objects. */
const readFields: Partial<Record<Kind, Record<string, FieldType>>> = {
  document: { openapi: 'version', info: 'info', servers: 'servers', security: 'security' },
  pathItem: { ...words, servers: 'servers' },
  operation: { ...words, operationId: 'text', servers: 'servers', security: 'security', tags: 'tags' },
  parameter: { ...words, ...styled, name: 'text', in: 'location' },
  requestBody: { ...words, required: 'flag' },
  response: words,
  header: { ...words, ...styled },
  encoding: { contentType: 'text', style: 'text', explode: 'flag', allowReserved: 'flag' },
  securityScheme: { description: 'word', type: 'text', scheme: 'text', in: 'text', name: 'text' },
  schema: {
    ...words,
    $id: 'text',
    title: 'word',
    type: 'type',
    format: 'text',
    pattern: 'text',
    required: 'names',
    enum: 'values',
    ...Object.fromEntries(numeric.map((keyword) => [keyword, 'number'] as const)),
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

const knownOther = Object.fromEntries(
  Object.entries(otherFields).map(([kind, names]) => [kind, new Set(names.split(' '))]),
) as Record<Kind, Set<string>>

/** Returns the fields that the generator reads of an object, with the types of their values. */
export const fieldsOf = (kind: Kind): Record<string, FieldType> => readFields[kind] ?? {}

/** Returns whether an object of a kind must have a field. */
export const isRequired = (kind: Kind, name: string): boolean => required[kind]?.includes(name) === true

/** Returns whether OpenAPI defines a field for objects of a kind, or allows it as an extension. */
export const isField = (kind: Kind, name: string): boolean =>
  kind === 'callback' ||
  name.startsWith('x-') ||
  memberOf(kind, name) !== undefined ||
  Object.hasOwn(fieldsOf(kind), name) ||
  knownOther[kind].has(name)

/** Returns all fields of objects of a kind. */
export const fieldNames = (kind: Kind): string[] => [
  ...memberNames(kind),
  ...Object.keys(fieldsOf(kind)),
  ...knownOther[kind],
]
