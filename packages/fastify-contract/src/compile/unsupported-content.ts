import { isRange, kindOf, requestKindOf } from '../serve/media-types.ts'
import { isForm } from './form-fields.ts'
import { join } from './json-pointer.ts'
import { charsetProblem, nameProblem } from './media-type-problems.ts'
import type { Document, Endpoint, Located, MediaType, RequestBody, Response } from './openapi-document.ts'
import { describesBytes } from './request-schemas.ts'
import { formProblems } from './unsupported-forms.ts'

/** Returns one line for each media type of an operation's bodies that the service can neither parse nor serialize. */
export const bodyContentProblems = (document: Document, { requestBody, responses }: Endpoint): string[] => [
  ...(requestBody === undefined ? [] : bodyProblems(document, requestBody)),
  ...Object.values(responses).flatMap(replyProblems),
]

function bodyProblems(document: Document, { content, pointer }: Located<RequestBody>): string[] {
  const problems = Object.entries(content).flatMap(([mediaType, media]) => {
    const problem = requestProblem(document, mediaType, media)
    if (problem !== undefined) return [`${pointer}/content: ${mediaType} ${problem}`]
    return isForm(mediaType) ? formProblems(document, mediaType, media, join(pointer, 'content', mediaType)) : []
  })
  return Object.keys(content).length > 0 ? problems : [`${pointer}/content: has no media type; add one`]
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

function replyProblems({ content = {}, pointer }: Located<Response>): string[] {
  const mediaTypes = Object.keys(content)
  return mediaTypes.flatMap((mediaType) => {
    const problem = replyProblem(mediaType, mediaTypes.length > 1)
    return problem === undefined ? [] : [`${pointer}/content: ${mediaType} ${problem}`]
  })
}

function replyProblem(mediaType: string, isOneOfSeveral: boolean): string | undefined {
  const problem = nameProblem(mediaType)
  if (problem !== undefined) return problem
  if (isRange(mediaType) && isOneOfSeveral)
    return 'is a range, which cannot be negotiated beside other media types; name each media type'
  return kindOf(mediaType) === 'bytes' ? undefined : charsetProblem(mediaType, 'written')
}
