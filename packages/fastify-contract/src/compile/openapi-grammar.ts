import { type SchemaShape, schemaKeywords } from '../serve/schema-keywords.ts'

/** The objects of OpenAPI 3.1 (section 4.8) and 3.2 that hold schemas at any depth, or that a $ref may refer to. */
export type Kind =
  | 'document'
  | 'components'
  | 'pathItem'
  | 'operation'
  | 'parameter'
  | 'header'
  | 'requestBody'
  | 'response'
  | 'mediaType'
  | 'encoding'
  | 'example'
  | 'securityScheme'
  | 'callback'
  | 'schema'

/** How a member holds objects: like a schema keyword, or as a map that may also hold extensions (x-…). */
type Shape = SchemaShape | 'patterned'

export type Member = { shape: Shape; kind: Kind }

const one = (kind: Kind): Member => ({ shape: 'one', kind })
const list = (kind: Kind): Member => ({ shape: 'list', kind })
const map = (kind: Kind): Member => ({ shape: 'map', kind })
const patterned = (kind: Kind): Member => ({ shape: 'patterned', kind })

/** The methods of a path item, in the order in which a path's operations are generated; `query` is new in 3.2. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

const ofMethods = Object.fromEntries(methods.map((method) => [method, one('operation')]))
const ofSchema = Object.entries(schemaKeywords).map(([keyword, shape]) => [keyword, { shape, kind: 'schema' }])
const ofHeader = { schema: one('schema'), content: map('mediaType'), examples: map('example') }

/** The members of each kind that hold further objects; every other member is plain data. */
const members: Record<Kind, Record<string, Member>> = {
  document: { paths: patterned('pathItem'), webhooks: map('pathItem'), components: one('components') },
  components: {
    schemas: map('schema'),
    responses: map('response'),
    parameters: map('parameter'),
    requestBodies: map('requestBody'),
    headers: map('header'),
    examples: map('example'),
    securitySchemes: map('securityScheme'),
    callbacks: map('callback'),
    pathItems: map('pathItem'),
    mediaTypes: map('mediaType'),
  },
  pathItem: { ...ofMethods, additionalOperations: map('operation'), parameters: list('parameter') },
  operation: {
    parameters: list('parameter'),
    requestBody: one('requestBody'),
    responses: patterned('response'),
    callbacks: map('callback'),
  },
  parameter: ofHeader,
  header: ofHeader,
  requestBody: { content: map('mediaType') },
  response: { headers: map('header'), content: map('mediaType') },
  mediaType: {
    schema: one('schema'),
    itemSchema: one('schema'),
    encoding: map('encoding'),
    prefixEncoding: list('encoding'),
    itemEncoding: one('encoding'),
    examples: map('example'),
  },
  encoding: {
    headers: map('header'),
    encoding: map('encoding'),
    prefixEncoding: list('encoding'),
    itemEncoding: one('encoding'),
  },
  example: {},
  securityScheme: {},
  callback: {},
  schema: Object.fromEntries(ofSchema),
}

/** Returns what kind of objects a member holds, and how; undefined for plain data. */
export function memberOf(kind: Kind, name: string): Member | undefined {
  // Each member of a callback is an expression, whose value is a path item (section 4.8.18).
  if (kind === 'callback') return name.startsWith('x-') || name === '$ref' ? undefined : one('pathItem')
  return Object.hasOwn(members[kind], name) ? members[kind][name] : undefined
}
