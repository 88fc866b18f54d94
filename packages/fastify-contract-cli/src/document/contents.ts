import {
  essenceOf,
  isRange,
  kindOf,
  type ResponseHeader,
  requestKindOf,
  type Schema,
  type ServiceHeader,
  serviceHeaders,
} from 'fastify-contract/contract'
import { holdsBytes, isFree } from './forms.ts'
import { join, resolve } from './json-pointer.ts'
import {
  type Document,
  type Header,
  jsonStyle,
  type Located,
  locate,
  type MediaType,
  type MediaTypes,
  type RequestBody,
  type Response,
} from './openapi-document.ts'
import { typesOf } from './schemas.ts'
import { mapDocument, mapHeld, type Node } from './walk-document.ts'

/**
 * Returns the media types of a request body with the schemas that the service validates it against. Bytes are not
 * validated, and text only if its schema allows strings alone.
 */
export const checkedBody = (document: Document, { content }: RequestBody): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      isChecked(document, type, media.schema) ? media : { ...media, schema: true },
    ]),
  )

/** Returns whether the service validates request bodies of a media type against their schema. */
export function isChecked(document: Document, mediaType: string, schema: Schema = true): boolean {
  const kind = requestKindOf(mediaType)
  if (['events', 'lines'].includes(kindOf(mediaType))) return true
  return kind === 'text' ? allowsOnlyStrings(document, schema) : kind !== 'bytes'
}

/** Returns whether a schema describes a body of bytes without constraining it further. */
export const describesBytes = (document: Document, schema: Schema = true): boolean =>
  isFree(document, schema) || holdsBytes(document, schema) || allowsOnlyStrings(document, schema)

/**
 * Returns the media types of a response with the schemas that the service validates their bodies against. JSON and each
 * item of a JSON stream have their schema; text has it only if it allows strings alone. Other bodies are not validated.
 */
export const checkedContent = (document: Document, { content = {} }: Response): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, { schema: checkedSchema(document, type, schema) }]),
  )

/** Returns the schema that response bodies of a media type are validated against; true if they are not validated. */
export function checkedSchema(document: object, mediaType: string, schema: Schema = true): Schema {
  if (isRange(mediaType) || ['json', 'events', 'lines'].includes(kindOf(mediaType))) return schema
  return kindOf(mediaType) === 'text' && allowsOnlyStrings(document, schema) ? schema : true
}

/** Returns whether a schema allows strings only. */
export const allowsOnlyStrings = (document: object, schema: Schema): boolean => {
  const { types } = typesOf(document, schema)
  return types.length === 1 && types[0] === 'string'
}

/**
 * Returns whether a body under a media type range is JSON: its schema describes more than bytes or a string. Springdoc
 * writes such bodies under a range.
 */
export const isJsonRange = (document: Document, mediaType: string, content: MediaTypes): boolean =>
  ['*/*', 'application/*'].includes(essenceOf(mediaType)) && !describesBytes(document, content[mediaType]?.schema)

/**
 * Returns a document in which request bodies that `isJsonRange` finds have the media type application/json. Beside
 * it, or beside another such range, they are left out.
 */
export const withoutJsonRanges = (document: Document): Document =>
  mapDocument(document, {
    requestBody(body) {
      const content = Object(body.content) as MediaTypes
      const isOfJson = (name: string) => isJsonRange(document, name, content)
      const [first, ...more] = Object.keys(content).filter(isOfJson)
      if (first === undefined) return body
      const hasJson = Object.keys(content).map(essenceOf).includes('application/json')
      const left: [string, MediaType][] = []
      for (const [name, media] of Object.entries(content))
        if (!(hasJson && name === first) && !more.includes(name))
          left.push([name === first ? 'application/json' : name, media])
      return { ...body, content: Object.fromEntries(left) }
    },
  })

/**
 * Returns a document in which the schema of JSON Lines is that of each item. In the original document an
 * array schema describes the whole body (OpenAPI 3.2 section 4.14.3.1).
 */
export function withItemSchemas(document: Document): Document {
  const inBody = (body: Node) =>
    mapHeld(body, 'content', (media, mediaType) => {
      const items = kindOf(mediaType) === 'lines' ? itemsOf(document, Object(media).schema) : undefined
      return items === undefined ? media : { ...Object(media), schema: items }
    })
  return mapDocument(document, { response: inBody, requestBody: inBody })
}

function itemsOf(document: Document, schema: unknown): unknown {
  const { type, items, $ref } = Object(schema) as Node
  if (typeof $ref === 'string') return itemsOf(document, resolve(document, $ref))
  return type === 'array' ? items : undefined
}

/** Returns the headers that a response declares, each with its name and its location. */
export const headersOf = (document: Document, response: Located<Response>): [name: string, header: Located<Header>][] =>
  Object.keys(response.headers ?? {}).map((name) => [
    name,
    locate<Header>(document, join(response.pointer, 'headers', name)),
  ])

/** Returns whether the handler sets a header, rather than the service itself. */
export const isGiven = (name: string): boolean => !serviceHeaders.includes(name.toLowerCase() as ServiceHeader)

/** Returns the media type that describes a response header by `content`; undefined if a schema describes it. */
export const headerMedia = ({ content }: Header): [name: string, media: MediaType] | undefined =>
  content === undefined ? undefined : (Object.entries(content)[0] ?? ['text/plain', {}])

/**
 * Returns a document in which each header of a response has a schema. In the original document, `content` may describe
 * it: as JSON, or as text.
 */
export const withHeaderSchemas = (document: Document): Document =>
  mapDocument(document, {
    header(header) {
      const described = headerMedia(header)
      if (described === undefined) return header
      const [mediaType, { schema = true }] = described
      const { content: _, ...own } = header
      if (kindOf(mediaType) === 'json') return { ...own, schema, style: jsonStyle }
      return { ...own, schema: allowsOnlyStrings(document, schema) ? schema : { type: 'string' } }
    },
  })

/** Returns the headers of a response that its handler sets, with what the service needs to write them. */
export function responseHeaders(document: Document, response: Located<Response>): ResponseHeader[] {
  const headers: ResponseHeader[] = []
  for (const [name, { required: isRequired = false, explode = false, style }] of headersOf(document, response))
    if (isGiven(name)) headers.push({ name, isRequired, explode, ...(style === jsonStyle && { isJson: true }) })
  return headers
}

/**
 * Returns a response whose optional headers are copied in place of a $ref to them: openapi-typescript treats a
 * referenced header as required.
 */
export const withOptionalHeaders = (document: Document, response: Node): Node =>
  mapHeld(response, 'headers', (header) => withoutReference(document, header))

function withoutReference(document: Document, header: unknown): unknown {
  const { $ref } = header as { $ref?: string }
  if ($ref === undefined) return header
  const { pointer: _, ...found } = locate<Header>(document, $ref)
  return found.required === true ? header : found
}
