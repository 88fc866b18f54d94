import type { HTTPMethods } from 'fastify'
import type { Schema } from './schema-keywords.ts'

/** The security schemes that a request must satisfy together, each with the scopes that it must grant. */
export type SecurityRequirement = Record<string, string[]>

/** The schemas of a body by media type. */
export type Content = Record<string, { schema: Schema }>

/** The schemas of one operation in the form of Fastify's route option `schema`; Fastify itself knows no `cookies`. */
export type RouteSchema = {
  params?: Schema
  querystring?: Schema
  headers?: Schema
  cookies?: Schema
  body?: { content: Content }
  /** By status, range (4XX) or default; a response without a body has the type null. */
  response: Record<string, { headers?: Record<string, Schema>; content?: Content; type?: 'null' }>
}

/**
 * How texts become one value, such as a parameter (OpenAPI 3.1 sections 4.8.12.3 and 4.8.12.6): those that a request has
 * under a key, or under several in an object whose properties stand apart.
 */
export type TextValue = {
  name: string
  /** The name by which the request has it, unless its properties stand apart. */
  key: string
  /** `json` is one text; the others are written in a style. */
  kind: 'scalar' | 'array' | 'object' | 'json'
  style: 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'
  explode: boolean
  /**
   * The types that a scalar may have, or the items of an array, or the properties of an object that `properties` does not
   * name, as far as the schema says.
   */
  types: string[]
  /** The types of the properties of an object. */
  properties?: Record<string, string[]>
  /** The properties are all pairs of the request, whatever their names, not those that `properties` names. */
  takesAll?: true
  /** The value where the request has none. */
  default?: unknown
}

/** A parameter of an operation. */
export type ParameterText = TextValue & {
  in: 'path' | 'query' | 'header' | 'cookie'
  /** Where a text in a path stands that is split before it is decoded: a segment, from the end, behind these characters. */
  segment?: { fromEnd: number; prefix: string }
}

/** A property of a form (OpenAPI 3.1 section 4.8.15). One of multipart/form-data is a part, or one part for each item. */
export type FormField = TextValue & {
  /** What multipart/form-data says of each part. */
  part?: {
    /** Its bytes are for the handler to read. */
    isFile?: true
    isItem?: true
    /** The media types that it may have, where the document names some. */
    mediaTypes?: string[]
    schema: Schema
  }
}

/** How a form is read: its properties, and the types of those that its schema does not name. */
export type Form = { fields: FormField[]; otherTypes: string[] }

/** A response header that a handler gives (OpenAPI 3.1 section 4.8.21). */
export type ReplyHeader = { name: string; isRequired: boolean; explode: boolean }

/** A path below those of an operation's servers, where the operation is served. */
export type ServedPath = {
  /** As OpenAPI has it. */
  path: string
  /** As Fastify's router has it. */
  url: string
  /** Matches the paths of requests. */
  pattern: string
}

/** One operation of the document, with what it inherits from its path and from the document. */
export type Operation = {
  operationId: string
  method: HTTPMethods
  servedPaths: ServedPath[]
  /** One of them must be met; none is needed where the list is empty. */
  security: SecurityRequirement[]
  /** Present for an operation with a body. */
  bodyRequired?: boolean
  parameters: ParameterText[]
  /** How its forms are read, by media type, where its body may be one. */
  forms?: Record<string, Form>
  /** The headers that its handler gives, by status as `schema.response` has it, where there are any. */
  replyHeaders?: Record<string, ReplyHeader[]>
  schema: RouteSchema
}

/** What `generated/routes.json` holds. */
export type Routes = {
  info: { title: string; version: string }
  operations: Operation[]
  /** Headers of requests that carry credentials, beside Authorization. */
  apiKeyHeaders?: string[]
  /** The schemas that others refer to, by `NAME#`. */
  schemas: Record<string, Schema>
}
