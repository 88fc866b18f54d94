import { essenceOf, kindOf, requestKindOf } from 'fastify-contract/contract'
import { isJsonRange } from '../document/contents.ts'
import { formProperties, holdsBytes, isForm, mediaTypesOf } from '../document/forms.ts'
import { join } from '../document/json-pointer.ts'
import { charsetProblem, nameProblem } from '../document/media-type-names.ts'
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
import { servedForm } from '../passes/served-forms.ts'
import type { Report } from '../reports/reports.ts'

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
  for (const [mediaType, media] of Object.entries(content)) {
    const problem = requestProblem(mediaType)
    if (problem !== undefined) report('invalid-media-type', at, `${mediaType} ${problem}`)
    else if (isJsonRange(document, mediaType, content))
      report('range-with-schema', at, `${mediaType} is a range; with this schema, bodies must be application/json`)
    else if (isMultipart(mediaType))
      report(
        'unparsed-body',
        at,
        `${mediaType} is not parsed: a handler gets its bytes, and the boundary in the Content-Type of the request`,
      )
    else if (isOtherText(mediaType))
      report('unparsed-body', at, `${mediaType} has a charset other than utf-8, so a handler gets its bytes`)
    else if (isForm(mediaType)) checkForm(document, mediaType, media, join(at, mediaType), report)
  }
}

/** Returns whether a body has parts that the service neither parses nor writes. */
const isMultipart = (mediaType: string): boolean => /^multipart\/(?!form-data(?![^;\s]))/i.test(mediaType)

/** Returns whether a media type is text or a form in a charset other than UTF-8. */
const isOtherText = (mediaType: string): boolean => kindOf(mediaType) !== kindOf(essenceOf(mediaType))

/** Rejects a parameter that is the whole query string unless it is a form or JSON (OpenAPI 3.2 section 4.12.1). */
function checkWholeQuery(document: Document, parameter: Located<Parameter>, report: Report): void {
  const { content = {}, schema, pointer, name } = parameter
  const reject = (problem: string) => report('unclear-parameter', pointer, `parameter ${name}: ${problem}`)
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

const requestProblem = (mediaType: string): string | undefined =>
  nameProblem(mediaType) ?? (requestKindOf(mediaType) === 'bytes' ? undefined : charsetProblem(mediaType, 'read'))

function checkResponse({ content = {}, pointer }: Located<Response>, report: Report): void {
  const at = join(pointer, 'content')
  for (const mediaType of Object.keys(content)) {
    const problem = replyProblem(mediaType)
    if (problem !== undefined) report('invalid-media-type', at, `${mediaType} ${problem}`)
    else if (isOtherText(mediaType))
      report('unparsed-body', at, `${mediaType} has a charset other than utf-8, so a handler returns its bytes`)
  }
}

const replyProblem = (mediaType: string): string | undefined =>
  nameProblem(mediaType) ?? (kindOf(mediaType) === 'bytes' ? undefined : charsetProblem(mediaType, 'written'))

/** Warns of each location of a form that the service reads otherwise. `pointer` is that of its media type. */
function checkForm(document: Document, mediaType: string, media: MediaType, pointer: string, report: Report): void {
  for (const { kind, keys, text } of servedForm(document, mediaType, media).advice)
    report(kind, join(pointer, ...keys), text)
  if (requestKindOf(mediaType) === 'multipart') return
  for (const { name, schema, encoding } of formProperties(document, media)) {
    if (mediaTypesOf(encoding).length === 0 && holdsBytes(document, schema))
      report(
        'unclear-form',
        pointer,
        `property ${name}: a file in a URL-encoded form is UTF-8 text; use multipart/form-data`,
      )
  }
}
