import type { Schema } from './schema-keywords.ts'

/** The security schemes that a request must all satisfy, each with its required scopes. */
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
 * How one value, such as a parameter, is read from the texts of a request (OpenAPI 3.1 sections 4.8.12.3 and 4.8.12.6).
 * All texts of a value have the same key, but an object whose properties are separate has a key for each of them.
 */
export type SerializedValue = {
  name: string
  /** The key of its texts in the request, unless its properties are separate. */
  key: string
  /** `json` is one JSON text, `nested` has members with names in brackets, and the others follow another style. */
  kind: 'scalar' | 'array' | 'object' | 'nested' | 'json'
  style: 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'
  explode: boolean
  /**
   * The types that the schema allows for a scalar, for the items of an array, or for properties of an object that are
   * not in `properties`.
   */
  types: string[]
  /** The types of a single value that the schema allows beside an array, or beside an object with separate properties. */
  scalarTypes?: string[]
  /** No item of the array is empty or contains a comma, as of numbers: an empty text is an empty array. */
  isPlain?: true
  /** Each string of the value or of its items is a date-time or a time, which contains no space. */
  isTime?: true
  /** The types of the properties of an object. */
  properties?: Record<string, string[]>
  /** Every pair of the request is a property, unless its name is that of another value. */
  acceptsAnyName?: true
  /** The names of credentials, which are no properties of a value that accepts any name. */
  credentials?: string[]
  /**
   * What a nested value and its members may be. The first place is that of the value itself. An object of another kind
   * has places if clients may also write it as a nested value.
   */
  places?: NestedPlace[]
  /** The JSON text of the value if the request has none. */
  default?: string
}

/**
 * One place in a value whose members have names in brackets: the types that its schemas allow, none if they allow all.
 * The places of its members and items are indexes into the list of places.
 */
export type NestedPlace = {
  types: string[]
  members?: Record<string, number>
  /** The place of the members that the schemas do not name. */
  others?: number
  items?: number
}

/** A parameter of an operation. */
export type SerializedParameter = SerializedValue & {
  in: 'path' | 'query' | 'header' | 'cookie'
  /**
   * The position of a path text that is split before it is decoded: its segment, counted from the end of the path, and
   * the literal text before it in the segment.
   */
  segment?: { fromEnd: number; prefix: string }
  /** How the whole query string is the value: as a form, or as one JSON text (OpenAPI 3.2 section 4.12.1). */
  whole?: Form | 'json'
}

/**
 * A property of a form (OpenAPI 3.1 section 4.8.15). In multipart/form-data it is one part, or one part for each item.
 */
export type FormField = SerializedValue & {
  /** Present for multipart/form-data only. */
  part?: {
    /** The handler reads the bytes of the part. */
    isFile?: true
    isItem?: true
    /** The allowed media types, if the document names some. */
    mediaTypes?: string[]
    schema: Schema
  }
}

/** How a form is read: its fields, and the allowed types of fields that its schema does not name. */
export type Form = {
  fields: FormField[]
  otherTypes: string[]
  /**
   * How a part of multipart/form-data is read that the schema does not name, and the names of parts that are skipped
   * nevertheless. If undefined, all such parts are skipped.
   */
  otherParts?: { field: FormField; skipped: string[] }
}

/** The path of the operation to which a link of the document leads, and a runtime expression for each of its parameters. */
export type LocationLink = { path: string; values: Record<string, string> }

/**
 * A response header that a handler sets, in the style `simple` or as JSON (OpenAPI 3.1 section 4.8.21). Location has the
 * link from which it is made if the handler does not set it.
 */
export type ResponseHeader = {
  name: string
  isRequired: boolean
  explode: boolean
  isJson?: true
  link?: LocationLink
}

/** A validator of a resource (RFC 9110 section 8.8): its ETag or its Last-Modified. */
export type ValidatorName = 'etag' | 'lastModified'

/** How an operation evaluates the preconditions of a request (RFC 9110 section 13). */
export type PreconditionRules = {
  /** A read compares them with the headers of its response; the handler of a write checks them. */
  of: 'read' | 'write'
  /** The validators that the operation has for its resource. */
  validators: ValidatorName[]
  /** The statuses of a failed precondition that the operation lists. */
  statuses: (304 | 412)[]
  /** Whether a request without a precondition gets 428 (RFC 6585 section 3). */
  isRequired?: true
  /** Whether the tag is a digest of the body. */
  isDigest?: true
  /** Whether a 412 has the current tag. */
  tellsTag?: true
}

/** A path at which an operation is served: the path of a server followed by the path of the operation. */
export type ServedPath = {
  /** In OpenAPI's syntax. */
  path: string
  /** In the syntax of Fastify's router. */
  url: string
  /** A regular expression that matches the paths of requests. */
  pattern: string
}

/**
 * A parameter that distinguishes an operation from others with its method and path. A request selects the operation if
 * its value of this parameter is one of `texts`; a Content-Type is compared without its own parameters. Without `texts`,
 * any value does.
 */
export type Selector = { in: 'query' | 'header'; name: string; texts?: string[] }

/** A method of an operation (OpenAPI 3.2 section 4.9.1); `additionalOperations` may have others. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE' | 'QUERY'

/** The method of an operation, and the paths at which it is served. */
export type ServedOperation = {
  method: HttpMethod
  servedPaths: ServedPath[]
  /** Present if other operations have its method and path. Without them, it serves the requests that select no other. */
  selectors?: Selector[]
}

/** One operation of the document, including what it inherits from its path and the document. */
export type Operation = ServedOperation & {
  operationId: string
  /** Alternatives, one of which a request must satisfy; an empty list requires nothing. */
  security: SecurityRequirement[]
  /** Whether the request must have a body; undefined if the operation declares none. */
  bodyRequired?: boolean
  parameters: SerializedParameter[]
  /** By media type; undefined if the body cannot be a form. */
  forms?: Record<string, Form>
  /** The types that the schema allows for the data of events, none if it allows all, by media type. */
  eventTypes?: Record<string, string[]>
  /** The headers that the handler sets, by the keys of `schema.response`; undefined if there are none. */
  responseHeaders?: Record<string, ResponseHeader[]>
  /** The headers of every response that announce the end of the operation; undefined if there are none. */
  deprecation?: Record<string, string>
  /** Undefined if it evaluates no preconditions. */
  preconditions?: PreconditionRules
  schema: RouteSchema
}

/** The operations of a document, with what the service needs to serve them. */
export type Routes = {
  info: { title: string; version: string }
  operations: Operation[]
  /** Operations of the document that are not supported; requests to them get 501. */
  skipped?: ServedOperation[]
  /** Request headers that carry credentials, besides Authorization. */
  apiKeyHeaders?: string[]
  /** The error numbers by name: those of the document's table or, without one, those of the service's own errors. */
  errorNumbers: Record<string, number>
  /** The shared schemas, by the name that a $ref gives them: `NAME#`. */
  schemas: Record<string, Schema>
  /** A curl command that calls an operation, with `examplePlaceholders`; undefined if no example is known. */
  example?: string
}

/** The export of `generated/contract.mjs`: what a service needs of its document. */
export type Contract = {
  /** The text of the OpenAPI document, as published. */
  documentText: string
  routes: Routes
  /** The code of the schemas, for `loadSchemaCode`. Without it each schema is compiled at its first use. */
  schemaCode?: SchemaCode
}

/** Returns the functions of the schemas of all operations. It gets the functions that these call. */
export type SchemaCode = (...called: unknown[]) => { validators: unknown[]; serializers: unknown[] }

/**
 * The response headers, in lower case, that the service sends itself or that frame a message. Handlers cannot set them,
 * even if the document declares them. OpenAPI ignores a declared `Content-Type` (3.1 section 4.8.17.1).
 */
export const serviceHeaders = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
] as const

export type ServiceHeader = (typeof serviceHeaders)[number]
