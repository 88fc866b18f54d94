import type { FormField } from '../../serve/contract.ts'
import { isRange, kindOf, requestKindOf } from '../../serve/media-types.ts'
import { type Schema, schemasIn } from '../../serve/schema-keywords.ts'
import { describesBytes, isJsonRange } from '../document/contents.ts'
import {
  type FormProperty,
  formOf,
  formProperties,
  holdsBytes,
  isFile,
  isForm,
  isStyled,
  mediaTypesOf,
  openPart,
  partSchema,
} from '../document/forms.ts'
import { join } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  type Located,
  type MediaType,
  type Parameter,
  type RequestBody,
  type Response,
  wholeStyle,
} from '../document/openapi-document.ts'
import {
  isReadAlike,
  type JsonType,
  otherTypes,
  propertySchemas,
  schemasDescribing,
  typesOf,
} from '../document/schemas.ts'
import { isNested } from '../document/styled-values.ts'
import type { Report } from './problems.ts'
import {
  charsetProblem,
  fieldTypeProblem,
  nameProblem,
  parameterProblems,
  useContent,
} from './unsupported-parameters.ts'

/** Rejects media types of an operation's bodies that the service can neither parse nor serialize. */
export function checkBodies(
  { parameters, requestBody, responses }: Endpoint,
  report: Report,
  document: Document,
): void {
  if (requestBody !== undefined) checkRequestBody(document, requestBody, report)
  for (const parameter of parameters.filter(({ style }) => style === wholeStyle))
    checkWholeQuery(document, parameter, report)
  for (const response of Object.values(responses)) checkResponse(response, report)
}

function checkRequestBody(document: Document, { content, pointer }: Located<RequestBody>, report: Report): void {
  const at = join(pointer, 'content')
  if (Object.keys(content).length === 0) report.reject(at, 'has no media type; add one')
  for (const [mediaType, media] of Object.entries(content)) {
    if (isJsonRange(document, mediaType, content)) {
      report.warn(at, `${mediaType} is a range; with this schema, bodies must be application/json`)
      continue
    }
    const problem = requestProblem(document, mediaType, media)
    if (problem !== undefined) report.reject(at, `${mediaType} ${problem}`)
    else if (isForm(mediaType)) checkForm(document, mediaType, media, join(at, mediaType), report)
  }
}

/** Rejects a parameter that is the whole query string unless it is a form or JSON (OpenAPI 3.2 section 4.12.1). */
function checkWholeQuery(document: Document, parameter: Located<Parameter>, report: Report): void {
  const { content = {}, schema, pointer, name } = parameter
  const reject = (problem: string) => report.reject(pointer, `parameter ${name}: ${problem}`)
  const [[mediaType, media] = ['', undefined], ...more] = Object.entries(content)
  const kind = requestKindOf(mediaType)
  if (schema !== undefined || media === undefined || more.length > 0)
    reject('is the whole query string; describe it by content with exactly one media type')
  else if (kind === 'form') checkForm(document, mediaType, media, join(pointer, 'content', mediaType), report)
  else if (kind !== 'json')
    reject(
      `${mediaType} is not supported for a query string; use application/x-www-form-urlencoded or application/json`,
    )
}

function requestProblem(document: Document, mediaType: string, { schema }: MediaType): string | undefined {
  const problem = nameProblem(mediaType)
  if (problem !== undefined) return problem
  if (/^multipart\/(?!form-data)/i.test(mediaType)) return 'is not supported; use multipart/form-data'
  if (isRange(mediaType) && !describesBytes(document, schema)) {
    return 'is a range, so the format of the body is unknown; name each media type, such as application/json'
  }
  return requestKindOf(mediaType) === 'bytes' ? undefined : charsetProblem(mediaType, 'read')
}

function checkResponse({ content = {}, pointer }: Located<Response>, { reject }: Report): void {
  const mediaTypes = Object.keys(content)
  for (const mediaType of mediaTypes) {
    const problem = replyProblem(mediaType)
    if (problem !== undefined) reject(join(pointer, 'content'), `${mediaType} ${problem}`)
  }
}

function replyProblem(mediaType: string): string | undefined {
  const problem = nameProblem(mediaType)
  if (problem !== undefined) return problem
  return kindOf(mediaType) === 'bytes' ? undefined : charsetProblem(mediaType, 'written')
}

/** Rejects locations of a form that the service cannot parse as described. `pointer` is that of its media type. */
function checkForm(document: Document, mediaType: string, media: MediaType, pointer: string, report: Report): void {
  const { reject } = report
  const { types } = typesOf(document, media.schema)
  if (types.some((type) => type !== 'object')) {
    reject(join(pointer, 'schema'), 'a form must be an object; describe each field as a property')
    return
  }
  const properties = formProperties(document, media)
  const { fields } = formOf(document, mediaType, media)
  const isMultipart = requestKindOf(mediaType) === 'multipart'
  for (const [name, { headers = {} }] of Object.entries(media.encoding ?? {})) {
    if (isMultipart && Object.keys(headers).length > 0)
      reject(join(pointer, 'encoding', name, 'headers'), 'headers of a part are not supported; remove them')
  }
  for (const problem of isMultipart ? openProblems(document, media) : openFieldProblems(document, media))
    reject(join(pointer, 'schema'), problem)
  const open = isMultipart ? openPart(document, media) : undefined
  for (const problem of open === undefined ? [] : partProblems(document, open))
    reject(join(pointer, 'schema'), `additionalProperties: ${problem}`)
  for (const [index, property] of properties.entries()) {
    const unnamed = mediaTypesOf(property.encoding).flatMap((type) => {
      const problem = fieldTypeProblem(type)
      return problem === undefined ? [] : [`${type} ${problem}`]
    })
    if (!isMultipart && mediaTypesOf(property.encoding).length === 0 && holdsBytes(document, property.schema))
      report.warn(
        pointer,
        `property ${property.name}: a file in a URL-encoded form is UTF-8 text; use multipart/form-data`,
      )
    const own = isMultipart ? partProblems(document, property) : fieldProblems(document, property)
    const problems = [...own, ...ambiguities(document, media, fields[index] as FormField)]
    for (const problem of unnamed.length > 0 ? unnamed : problems)
      reject(pointer, `property ${property.name}: ${problem}`)
  }
  for (const { parameter, problem } of isMultipart ? [] : styleProblems(document, properties))
    reject(pointer, `property ${parameter.name}: ${problem.replace(useContent, useJson)}`)
}

const useJson = 'give it the contentType application/json in encoding'

/** Returns a problem unless the schema describes parts by name or as any others: a handler receives only these. */
function openProblems(document: Document, media: MediaType): string[] {
  const parts = schemasDescribing(document, [media.schema])
  const isOpen = parts.some((part) =>
    ['patternProperties', 'unevaluatedProperties'].some((keyword) =>
      schemasIn(part, keyword).some((one) => Object.keys(Object(one)).length > 0),
    ),
  )
  if (isOpen)
    return [
      'parts whose names a pattern describes are not supported; name each as a property, or use additionalProperties',
    ]
  if (formProperties(document, media).length > 0 || openPart(document, media) !== undefined) return []
  return ['has no properties, so a handler would receive nothing; name each part as a property']
}

/** Keywords that constrain a string beyond its type. */
const textKeywords = ['minLength', 'maxLength', 'pattern', 'enum', 'const']

function partProblems(document: Document, { schema, encoding }: FormProperty): string[] {
  const { style = 'form', explode = true } = encoding
  if (style !== 'form' || !explode)
    return ['style and explode are not supported in multipart/form-data; use contentType']
  const { schema: each } = partSchema(document, schema)
  const mediaTypes = mediaTypesOf(encoding)
  if (!isFile(document, each, mediaTypes)) return textProblems(document, each, mediaTypes)
  const fileSchemas = schemasDescribing(document, [each])
  const listSchemas = schemasDescribing(document, [schema])
  const { types } = typesOf(document, each)
  return [
    ...(types.some((type) => type !== 'string' && type !== 'null')
      ? ['a file must have the type string; correct it']
      : []),
    ...textKeywords
      .filter((keyword) => fileSchemas.some((one) => Object.hasOwn(one, keyword)))
      .map((keyword) => `${keyword} is not checked for a file; state it in the description`),
    ...(listSchemas.some(({ uniqueItems }) => uniqueItems === true)
      ? ['uniqueItems is not checked for files; state it in the description']
      : []),
  ]
}

function textProblems(document: Document, schema: Schema, mediaTypes: string[]): string[] {
  const { types } = typesOf(document, schema)
  const kinds = new Set(mediaTypes.map(requestKindOf))
  const isComposed = types.includes('object') || types.includes('array')
  if (kinds.has('form') || kinds.has('multipart') || kinds.size > 1) {
    return [
      `the media types ${mediaTypes.join(', ')} cannot be the content of one part; use application/json or text/plain`,
    ]
  }
  if (kinds.has('text') && isComposed)
    return [`${mediaTypes[0]} is plain text; use application/json for an object or an array`]
  const others = types.filter((type) => type !== 'null')
  if (kinds.size > 0 || !isComposed || others.every((type) => type === 'object' || type === 'array')) return []
  return [eitherProblem]
}

const eitherProblem = 'may be JSON or plain text; set its contentType'

const isObjectOrText = (types: JsonType[]): boolean =>
  types.includes('object') && types.some((type) => type !== 'object' && type !== 'null')

function fieldProblems(document: Document, { schema, encoding }: FormProperty): string[] {
  const mediaTypes = mediaTypesOf(encoding)
  const kinds = new Set(mediaTypes.map(requestKindOf))
  const { types } = typesOf(document, schema)
  if (isStyled(encoding)) return []
  if (kinds.size === 0) return isObjectOrText(types) ? [eitherProblem] : []
  if (kinds.size > 1 || kinds.has('bytes') || kinds.has('form') || kinds.has('multipart')) {
    return [
      `${mediaTypes.join(', ')} is not supported in a URL-encoded form; use application/json, text/plain or multipart/form-data`,
    ]
  }
  const isText = kinds.has('text') && (types.includes('object') || types.includes('array'))
  return isText ? [`${mediaTypes[0]} is plain text; use application/json for an object or an array`] : []
}

/** Returns the style problems of the fields. A field is written like a query parameter unless it has a media type. */
function styleProblems(document: Document, properties: FormProperty[]) {
  const parameters = properties
    .filter(({ encoding }) => mediaTypesOf(encoding).length === 0 || isStyled(encoding))
    .filter(({ schema, encoding }) => isStyled(encoding) || !typesOf(document, schema).types.includes('object'))
    .map(({ name, schema, encoding: { style, explode } }): Located<Parameter> => {
      const styled = { ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) }
      return { name, in: 'query', schema, pointer: '', ...styled }
    })
  return parameterProblems(document, { path: '/', parameters, security: [] })
}

/**
 * Returns the problems of a field that several subschemas of a form describe. The service parses the text of a field
 * before it knows which subschema applies, so all of them must parse it in the same way.
 */
function ambiguities(document: Document, { schema }: MediaType, { name, kind, part }: FormField): string[] {
  const described = propertySchemas(document, schema, name)
    .map((schemas) => schemas.map((one) => typesOf(document, one)))
    .map((all) => ({ types: all.flatMap(({ types }) => types), items: all.flatMap(({ items }) => items) }))
    .filter(({ types }) => types.length > 0)
  const lists = described.filter(({ types }) => types.includes('array'))
  // In JSON and in brackets an array is distinct from other values, unless each item is sent as a part of its own.
  const mayVary = kind === 'nested' || (kind === 'json' && part === undefined)
  if (!mayVary && lists.length > 0 && lists.length < described.length) {
    return ['is an array in one schema and not in another; describe it the same way in each']
  }
  if (kind === 'json' || part?.isFile) return []
  const texts = described.map(({ types, items }) => (types.includes('array') ? items : types))
  return isReadAlike(texts.filter(({ length }) => length > 0))
    ? []
    : [
        'has several types that a string cannot distinguish; describe it the same way in each schema, or give it the contentType application/json',
      ]
}

/** Returns the problems of the fields that the schema of a form does not name: each is read as one string. */
function openFieldProblems(document: Document, { schema }: MediaType): string[] {
  const all = otherTypes(document, schema)
  if (all.some(isNested))
    return ['fields that the schema does not name are read as strings; name each array and object as a property']
  return isReadAlike(all) ? [] : ['fields that the schema does not name have several types; name each as a property']
}
