import { isRange, kindOf } from '../../src/openapi/media-types.ts'
import type { Endpoint, Located, Response } from './openapi-document.ts'

/** JSON by its own name or by the suffix of another (RFC 6839 section 3.1). */
const json = /^application\/(?:[\w.-]+\+)?json$/

/** Returns one line for each media type of an operation's bodies that is not read or written. */
export const contentProblems = ({ requestBody, responses }: Endpoint): string[] => [
  ...Object.keys(requestBody?.content ?? {})
    .filter((mediaType) => !json.test(mediaType))
    .map((mediaType) => `${requestBody?.pointer}/content: ${mediaType} is not read, only JSON is`),
  ...Object.values(responses).flatMap(replyProblems),
]

/** RFC 9110 sections 5.6.2, 5.6.6 and 8.3.1, and the ranges of OpenAPI. */
const mediaTypeGrammar =
  /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/

function replyProblems({ content = {}, pointer }: Located<Response>): string[] {
  const mediaTypes = Object.keys(content)
  return mediaTypes.flatMap((mediaType) => {
    const problem = replyProblem(mediaType, mediaTypes.length > 1)
    return problem === undefined ? [] : [`${pointer}/content: ${mediaType} ${problem}`]
  })
}

function replyProblem(mediaType: string, isOneOfSeveral: boolean): string | undefined {
  if (!mediaTypeGrammar.test(mediaType)) return 'is no media type; use one such as text/plain'
  if (isRange(mediaType) && isOneOfSeveral) return 'cannot be negotiated beside others; name each media type'
  const [, charset = 'utf-8'] = /;[ \t]*charset="?([^;"]*)/i.exec(mediaType) ?? []
  const isText = kindOf(mediaType) !== 'bytes'
  return isText && charset.toLowerCase() !== 'utf-8' ? 'has a charset that is not written; use utf-8' : undefined
}
