import { parseContentType } from '../../src/http/content-type.ts'

/** RFC 9110 sections 5.6.2, 5.6.6 and 8.3.1, and the ranges of OpenAPI. */
const mediaTypeGrammar =
  /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/

/** Returns what a text is instead of a media type or a range of them; undefined for one. */
export const nameProblem = (text: string): string | undefined =>
  mediaTypeGrammar.test(text) && parseContentType(text) !== undefined
    ? undefined
    : 'is no media type; use one such as text/plain'

/** Returns what is wrong with the charset of a media type, whose bodies are texts. */
export function charsetProblem(mediaType: string, done: 'read' | 'written'): string | undefined {
  const charset = parseContentType(mediaType)?.parameters.get('charset') ?? 'utf-8'
  return charset.toLowerCase() === 'utf-8' ? undefined : `has a charset that is not ${done}; use utf-8`
}

/** Returns what is wrong with a media type of a field of a form: of its parameters the service looks at the charset alone. */
export function fieldTypeProblem(mediaType: string): string | undefined {
  const problem = nameProblem(mediaType) ?? charsetProblem(mediaType, 'read')
  if (problem !== undefined) return problem
  const names = [...(parseContentType(mediaType)?.parameters.keys() ?? [])]
  const other = names.find((name) => name !== 'charset')
  return other && `has the parameter ${other}, which is not read in a form; leave it out`
}
