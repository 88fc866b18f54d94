import { parseContentType } from '../http/content-type.ts'

/** Matches the media types of RFC 9110 (sections 5.6.2, 5.6.6 and 8.3.1) and the ranges of OpenAPI. */
const mediaTypeGrammar =
  /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/

/** Returns a problem if a text is neither a media type nor a range of media types. */
export const nameProblem = (text: string): string | undefined =>
  mediaTypeGrammar.test(text) && parseContentType(text) !== undefined
    ? undefined
    : 'is not a media type; use one such as text/plain'

/** Returns a problem if a textual media type has a charset other than UTF-8. */
export function charsetProblem(mediaType: string, done: 'read' | 'written'): string | undefined {
  const charset = parseContentType(mediaType)?.parameters.get('charset') ?? 'utf-8'
  return charset.toLowerCase() === 'utf-8' ? undefined : `has a charset that cannot be ${done}; use utf-8`
}

/** Returns a problem of the media type of a form field. The service supports no parameter other than charset. */
export function fieldTypeProblem(mediaType: string): string | undefined {
  const problem = nameProblem(mediaType) ?? charsetProblem(mediaType, 'read')
  if (problem !== undefined) return problem
  const names = [...(parseContentType(mediaType)?.parameters.keys() ?? [])]
  const other = names.find((name) => name !== 'charset')
  return other && `has the parameter ${other}, which is not supported in a form; remove it`
}
