import { requestKindOf } from '../serve/media-types.ts'
import type { FormField } from '../serve/routes.ts'
import { type Schema, schemasIn } from '../serve/schema-keywords.ts'
import { ambiguities, openFieldProblems } from './ambiguous-fields.ts'
import { holdsBytes, isFile } from './file-schemas.ts'
import { type FormProperty, formOf, formProperties, isStyled, mediaTypesOf, partSchema } from './form-fields.ts'
import { branches } from './int64-responses.ts'
import { join } from './json-pointer.ts'
import { fieldTypeProblem } from './media-type-problems.ts'
import type { Document, Endpoint, MediaType, Parameter } from './openapi-document.ts'
import { type JsonType, schemasDescribing, typesOf } from './schema-types.ts'
import { parameterProblems } from './unsupported-parameters.ts'

/**
 * Returns one line for each place of a form that the service cannot parse as described. `pointer` is the place of the
 * form's media type.
 */
export function formProblems(document: Document, mediaType: string, media: MediaType, pointer: string): string[] {
  const { types } = typesOf(document, media.schema)
  if (types.some((type) => type !== 'object')) {
    return [`${join(pointer, 'schema')}: a form must be an object; describe each field as a property`]
  }
  const properties = formProperties(document, media)
  const { fields } = formOf(document, mediaType, media)
  const isMultipart = requestKindOf(mediaType) === 'multipart'
  const encodings = Object.entries(media.encoding ?? {})
  return [
    ...encodings.flatMap(([name, { headers }]) =>
      isMultipart && headers !== undefined && Object.keys(headers).length > 0
        ? [`${join(pointer, 'encoding', name, 'headers')}: headers of a part are not supported; remove them`]
        : [],
    ),
    ...(isMultipart ? openProblems(document, media) : openFieldProblems(document, media)).map(
      (problem) => `${join(pointer, 'schema')}: ${problem}`,
    ),
    ...properties.flatMap((property, index) => {
      const field = fields[index] as FormField
      const unnamed = mediaTypesOf(property.encoding).flatMap((type) => {
        const problem = fieldTypeProblem(type)
        return problem === undefined ? [] : [`${type} ${problem}`]
      })
      const problems = [
        ...(isMultipart ? partProblems(document, property) : fieldProblems(document, property)),
        ...ambiguities(document, media, field),
      ]
      return (unnamed.length > 0 ? unnamed : problems).map(
        (problem) => `${pointer}: property ${property.name}: ${problem}`,
      )
    }),
    ...(isMultipart ? [] : styleProblems(document, properties, pointer)),
  ]
}

/** Returns a problem unless the schema names every part: a handler receives only named parts, each with its type. */
function openProblems(document: Document, media: MediaType): string[] {
  const parts = schemasDescribing(document, [media.schema], branches)
  const holders = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']
  const isOpen = parts.some((part) =>
    holders.some((keyword) => schemasIn(part, keyword).some((one) => Object.keys(Object(one)).length > 0)),
  )
  if (isOpen) return ['parts with arbitrary names are not supported; name each as a property']
  if (formProperties(document, media).length > 0) return []
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
  const fileSchemas = schemasDescribing(document, [each], branches)
  const listSchemas = schemasDescribing(document, [schema], branches)
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
  if (holdsBytes(document, schema) && mediaTypes.length === 0) {
    return ['a file is not supported in a URL-encoded form; use multipart/form-data, or base64 with contentEncoding']
  }
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
function styleProblems(document: Document, properties: FormProperty[], pointer: string): string[] {
  const styled = properties
    .filter(({ encoding }) => mediaTypesOf(encoding).length === 0 || isStyled(encoding))
    .filter(({ schema, encoding }) => isStyled(encoding) || !typesOf(document, schema).types.includes('object'))
  const parameters = styled.map(({ name, schema, encoding: { style, explode } }) => ({
    name,
    in: 'query' as Parameter['in'],
    schema,
    pointer,
    ...(style !== undefined && { style }),
    ...(explode !== undefined && { explode }),
  }))
  return parameterProblems(document, { path: '/', parameters, security: [] } as unknown as Endpoint).map((line) =>
    line
      .replace(`${pointer}: parameter `, `${pointer}: property `)
      .replace('describe it by content with application/json', 'give it the contentType application/json in encoding'),
  )
}
