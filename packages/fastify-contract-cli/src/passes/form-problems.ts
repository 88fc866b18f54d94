import { type FormField, requestKindOf, type Schema } from 'fastify-contract/contract'
import { type FormProperty, isFile, isStyled, mediaTypesOf, partSchema } from '../document/forms.ts'
import type { Document, Located, MediaType, Parameter } from '../document/openapi-document.ts'
import {
  isReadAlike,
  type JsonType,
  otherTypes,
  propertySchemas,
  schemasDescribing,
  typesOf,
} from '../document/schemas.ts'
import { isNested } from '../document/styled-values.ts'
import { parameterProblems, useContent } from './parameter-problems.ts'

/** Keywords that constrain a string beyond its type. */
export const textKeywords = ['minLength', 'maxLength', 'pattern', 'enum', 'const']

/** Returns why the service cannot read a part of multipart/form-data as described, each with the remedy. */
export function partProblems(document: Document, { schema, encoding }: FormProperty): string[] {
  const { schema: each } = partSchema(document, schema)
  const mediaTypes = mediaTypesOf(encoding)
  if (!isFile(document, each, mediaTypes)) return textProblems(document, each, mediaTypes)
  const { types } = typesOf(document, each)
  return types.some((type) => type !== 'string' && type !== 'null')
    ? ['a file must have the type string; correct it']
    : []
}

/** Returns the keywords of a property of multipart/form-data that are not checked, since they constrain the bytes of files. */
export function uncheckedKeywords(document: Document, { schema, encoding }: FormProperty): string[] {
  const { schema: each } = partSchema(document, schema)
  if (!isFile(document, each, mediaTypesOf(encoding))) return []
  const files = schemasDescribing(document, [each])
  const lists = schemasDescribing(document, [schema])
  return [
    ...textKeywords.filter((keyword) => files.some((one) => Object.hasOwn(one, keyword))),
    ...(lists.some(({ uniqueItems }) => uniqueItems === true) ? ['uniqueItems'] : []),
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

/** Returns why the service cannot read a field of a URL-encoded form as described, each with the remedy. */
export function fieldProblems(document: Document, { schema, encoding }: FormProperty): string[] {
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
export function styleProblems(document: Document, properties: FormProperty[]): { name: string; problem: string }[] {
  const parameters: Located<Parameter>[] = []
  for (const { name, schema, encoding } of properties) {
    const isPlain = mediaTypesOf(encoding).length === 0 && !typesOf(document, schema).types.includes('object')
    if (!isStyled(encoding) && !isPlain) continue
    const { style, explode } = encoding
    const styled = { ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) }
    parameters.push({ name, in: 'query', schema, pointer: '', ...styled })
  }
  return parameterProblems(document, { path: '/', parameters, security: [] }).map(({ parameter, problem }) => ({
    name: parameter.name,
    problem: problem.replace(useContent, useJson),
  }))
}

const useJson = 'give it the contentType application/json in encoding'

/**
 * Returns the problems of a field that several subschemas of a form describe. The service parses the text of a field
 * before it knows which subschema applies, so all of them must parse it in the same way.
 */
export function ambiguities(document: Document, { schema }: MediaType, { name, kind, part }: FormField): string[] {
  const described: { types: JsonType[]; items: JsonType[] }[] = []
  for (const schemas of propertySchemas(document, schema, name)) {
    const all = schemas.map((one) => typesOf(document, one))
    const types = all.flatMap((one) => one.types)
    if (types.length > 0) described.push({ types, items: all.flatMap((one) => one.items) })
  }
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
export function openFieldProblems(document: Document, { schema }: MediaType): string[] {
  const all = otherTypes(document, schema)
  if (all.some(isNested))
    return ['fields that the schema does not name are read as strings; name each array and object as a property']
  return isReadAlike(all) ? [] : ['fields that the schema does not name have several types; name each as a property']
}
