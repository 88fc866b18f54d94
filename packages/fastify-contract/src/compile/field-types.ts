import type { Kind } from './openapi-grammar.ts'
import { type Server, serverUrl } from './servers.ts'
import { isNode } from './walk-document.ts'

/** The type of a field that holds neither schemas nor other OpenAPI objects. */
export type FieldType = { is: keyof typeof fieldTypes; isRequired?: boolean }

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/** The description of each field type in messages, and the function that checks it. */
export const fieldTypes: Record<
  'text' | 'flag' | 'texts' | 'type' | 'list' | 'place' | 'info' | 'servers' | 'security' | 'discriminator',
  [expected: string, isValid: (value: unknown) => boolean]
> = {
  text: ['a string', isText],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  texts: ['an array of strings', isTexts],
  type: ['a string or an array of strings', (value) => isText(value) || isTexts(value)],
  list: ['an array', Array.isArray],
  place: [
    'path, query, querystring, header or cookie',
    (value) => ['path', 'query', 'querystring', 'header', 'cookie'].includes(value as string),
  ],
  info: [
    'an object with a title and a version',
    (value) => isNode(value) && isText(value.title) && isText(value.version),
  ],
  servers: [
    'an array of objects with a url, and with a default for each of its variables',
    (value) => Array.isArray(value) && value.every(isServer),
  ],
  security: [
    'an array of objects with an array of scopes for each scheme',
    (value) => Array.isArray(value) && value.every((one) => isNode(one) && Object.values(one).every(isTexts)),
  ],
  discriminator: [
    'an object with a propertyName and a mapping to strings',
    (value) =>
      isNode(value) &&
      isText(value.propertyName) &&
      (value.mapping === undefined || (isNode(value.mapping) && Object.values(value.mapping).every(isText))),
  ],
}

function isServer(server: unknown): boolean {
  if (!isNode(server) || !isText(server.url)) return false
  const { variables = {} } = server
  if (!isNode(variables)) return false
  const isVariable = (one: unknown) =>
    isNode(one) && isText(one.default) && (one.enum === undefined || isTexts(one.enum))
  if (!Object.values(variables).every(isVariable)) return false
  try {
    return isText(serverUrl([server as Server]))
  } catch {
    return false
  }
}

const words: Record<string, FieldType> = { summary: { is: 'text' }, description: { is: 'text' } }

const fields: Partial<Record<Kind, Record<string, FieldType>>> = {
  document: {
    openapi: { is: 'text', isRequired: true },
    info: { is: 'info', isRequired: true },
    servers: { is: 'servers' },
    security: { is: 'security' },
  },
  pathItem: { ...words, servers: { is: 'servers' } },
  operation: { ...words, operationId: { is: 'text' }, servers: { is: 'servers' }, security: { is: 'security' } },
  parameter: {
    ...words,
    name: { is: 'text', isRequired: true },
    in: { is: 'place', isRequired: true },
    required: { is: 'flag' },
    style: { is: 'text' },
    explode: { is: 'flag' },
  },
  requestBody: { ...words, required: { is: 'flag' } },
  response: words,
  header: { ...words, required: { is: 'flag' } },
  securityScheme: {
    type: { is: 'text', isRequired: true },
    scheme: { is: 'text' },
    in: { is: 'text' },
    name: { is: 'text' },
  },
  schema: {
    ...words,
    title: { is: 'text' },
    type: { is: 'type' },
    format: { is: 'text' },
    pattern: { is: 'text' },
    required: { is: 'texts' },
    enum: { is: 'list' },
    discriminator: { is: 'discriminator' },
  },
}

/** Returns the fields of an OpenAPI object that the generator reads, except those that hold other objects. */
export const fieldsOf = (kind: Kind): Record<string, FieldType> => fields[kind] ?? {}
