import { type ServiceHeader, serviceHeaders } from '../serve/handler-types.ts'
import type { ResponseHeader } from '../serve/routes.ts'
import { join } from './json-pointer.ts'
import { type Document, type Header, type Located, locate, type Response } from './openapi-document.ts'
import type { Node } from './walk-document.ts'

/** Returns the headers that a response declares, each with its name and its place. */
export const headersOf = (document: Document, response: Located<Response>): [name: string, header: Located<Header>][] =>
  Object.keys(response.headers ?? {}).map((name) => [
    name,
    locate<Header>(document, join(response.pointer, 'headers', name)),
  ])

/** Returns whether the handler sets a header, rather than the service itself. */
export const isGiven = (name: string): boolean => !serviceHeaders.includes(name.toLowerCase() as ServiceHeader)

/** Returns the headers of a response that its handler sets, with what the service needs to write them. */
export const responseHeaders = (document: Document, response: Located<Response>): ResponseHeader[] =>
  headersOf(document, response)
    .filter(([name]) => isGiven(name))
    .map(([name, { required = false, explode = false }]) => ({ name, isRequired: required, explode }))

/** Returns one line for each header of a response that the service cannot write as the document says. */
export function headerProblems(document: Document, response: Located<Response>): string[] {
  const given = headersOf(document, response).filter(([name]) => isGiven(name))
  return given
    .filter(([, header]) => 'content' in header)
    .map(
      ([name, { pointer }]) => `${pointer}: header ${name}: content is not supported; describe the header with schema`,
    )
}

/**
 * Returns a response whose optional headers are copied in place of a $ref to them: openapi-typescript treats a
 * referenced header as required.
 */
export function withOptionalHeaders(document: Document, response: Node): Node {
  if (response.headers === undefined) return response
  const headers = Object.entries(response.headers as Record<string, { $ref?: string }>).map(([name, header]) => {
    const found = header.$ref === undefined ? undefined : locate<Header>(document, header.$ref)
    const { pointer: _, ...optional } = found ?? { pointer: '' }
    return [name, found === undefined || found.required === true ? header : optional]
  })
  return { ...response, headers: Object.fromEntries(headers) }
}
