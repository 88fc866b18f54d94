import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation, SerializedParameter, SerializedValue } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import type { Hook } from '../http/request-guards.ts'
import type { Validator } from '../schema/validator.ts'
import { decodeTarget, parametersIn, parametersValidator, type ValidateTexts } from './parameters.ts'

/**
 * Returns a function that reads and validates the path parameters of an operation. Invalid ones get 400. The value also
 * has the texts of the parameters that a prefix has, which the document does not describe.
 */
export function pathValidator(operation: Operation, schema: Schema, validator: Validator): ValidateTexts {
  const validate = parametersValidator(operation, schema, validator, { part: 'path', decode: decodeSegment })
  const keys = new Set(parametersIn(operation, 'path').map(({ key }) => key))
  return function validatePath(texts) {
    const result = validate(texts)
    if (Object.keys(texts).length <= keys.size || 'error' in result) return result
    const ofPrefix = Object.entries(texts).filter(([key]) => !keys.has(key))
    return { value: { ...Object.fromEntries(ofPrefix), ...(result.value as object) } }
  }
}

/** Returns a function that returns the parameters of the document among those of a request with a prefix. */
export function pathOf({ parameters }: Operation): (params: object) => object {
  const names = parameters.flatMap((parameter) => (parameter.in === 'path' ? [parameter.name] : []))
  return (params) =>
    Object.keys(params).length <= names.length
      ? params
      : Object.fromEntries(Object.entries(params).filter(([name]) => names.includes(name)))
}

/** Decodes a text of a segment. The router has already decoded parameters that are not split. */
const decodeSegment = (text: string, value: SerializedValue): string =>
  'segment' in value ? decodeTarget(text, decodeURIComponent) : text

/**
 * Returns a hook that replaces the decoded path parameters of Fastify's router by their percent-encoded texts. Lists
 * must be split before they are decoded, since a decoded delimiter may be data. Undefined if no parameter is split.
 */
export function pathSplitter(parameters: SerializedParameter[]): Hook | undefined {
  const split = parameters.flatMap(({ key, segment }) => (segment === undefined ? [] : [{ key, ...segment }]))
  if (split.length === 0) return undefined
  return splitPath

  function splitPath(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
    const [path = ''] = (request.raw.url as string).split('?', 1)
    const segments = path.split('/')
    const params = request.params as Record<string, string>
    for (const { key, fromEnd, prefix } of split) {
      // These are the router's segments, since it also splits at slashes before it decodes %2F.
      params[key] = withoutPrefix(segments.at(-fromEnd) as string, prefix)
    }
    done()
  }
}

/** Removes a literal prefix, any character of which may be percent-encoded in the segment. */
function withoutPrefix(segment: string, prefix: string): string {
  let at = 0
  for (const character of prefix) at += segment[at] === '%' ? 3 * Buffer.byteLength(character) : character.length
  return segment.slice(at)
}
