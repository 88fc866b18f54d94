import { kindOf } from '../serve/media-types.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import type { WithExample } from './examples.ts'
import { charsetProblem } from './media-type-problems.ts'
import type { Document, Parameter } from './openapi-document.ts'
import { typesOf } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/** Returns the object with the schema and the examples of a parameter: the parameter itself, or its media type. */
export function holderOf(parameter: Parameter): WithExample {
  const [media] = Object.values(parameter.content ?? {})
  return media ?? parameter
}

/** Returns the schema of a parameter: its own or that of its content. */
export const schemaOf = (parameter: Parameter): Schema => holderOf(parameter).schema ?? true

/** Returns whether a parameter is described by content with a JSON media type. */
export const isJson = ({ content = {} }: Parameter): boolean =>
  Object.keys(content).some((mediaType) => kindOf(mediaType) === 'json')

/** Returns a parameter with the schema of its content: openapi-typescript does not support content of parameters. */
export function withSchema(node: Node): Node {
  const { content, ...parameter } = node
  if (content === undefined) return node
  const schema = schemaOf(node as Parameter)
  const isAny = Object.keys(schema).length === 0
  return { ...parameter, schema: isAny && !isJson(node as Parameter) ? { type: 'string' } : schema }
}

/** Returns the problems of the content of a parameter (OpenAPI 3.1 section 4.8.12.2.2). */
export function contentProblems(document: Document, { content, schema }: Parameter): string[] {
  if (content === undefined) return schema === undefined ? ['has no schema; add one'] : []
  if (schema !== undefined) return ['has both schema and content; remove one of them']
  const [[mediaType, media] = ['', {}]] = Object.entries(content)
  const count = Object.keys(content).length
  if (count !== 1) return [`its content has ${count} media types; use exactly one`]
  const kind = kindOf(mediaType)
  if ((kind !== 'json' && kind !== 'text') || charsetProblem(mediaType, 'read') !== undefined) {
    return [`${mediaType} is not supported in a parameter; use application/json or text/plain`]
  }
  const { types } = typesOf(document, media.schema)
  const isString = kind === 'json' || types.length === 0 || types.includes('string')
  return isString ? [] : [`${mediaType} is read as a string, which its schema does not allow; use application/json`]
}
