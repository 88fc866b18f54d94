import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Operation, ResponseHeader } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { addVary } from '../http/cors.ts'
import { stringifyJson } from '../json/write-json.ts'
import type { Validator } from '../schema/validator.ts'

/** The names and texts of response headers, in the form that Node.js takes. */
export type HeaderTexts = [name: string, text: string | string[]][]

/** Validates and serializes the headers that a handler returned. */
export type WriteHeaders = (given: Record<string, unknown> | undefined) => HeaderTexts

/**
 * Returns a function that validates and serializes the headers of one response of an operation; `status` is its key in
 * the document. It throws for a header that is missing, undeclared or invalid under its schema. Undefined if the
 * response declares no headers.
 */
export function headerWriter(
  { operationId, schema: { response }, responseHeaders = {} }: Operation,
  status: string,
  validator: Validator,
): WriteHeaders | undefined {
  const declared = responseHeaders[status]
  if (declared === undefined) return undefined
  const schemas = response[status]?.headers as Record<string, Schema>
  const checks = new Map<string, (value: unknown) => void>()
  for (const { name } of declared) checks.set(name, validator.response(schemas[name] as Schema, `header ${name}`))
  return headersOf

  function headersOf(given: Record<string, unknown> = {}): HeaderTexts {
    for (const name of Object.keys(given)) {
      if (!checks.has(name)) throw new Error(`operation ${operationId}: response ${status} declares no header ${name}`)
    }
    const texts: HeaderTexts = []
    for (const header of declared as ResponseHeader[]) {
      const { name, isRequired } = header
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value !== undefined) {
        checks.get(name)?.(value)
        texts.push([name, headerText(header, value)])
      } else if (isRequired) throw new Error(`operation ${operationId}: response ${status} requires the header ${name}`)
    }
    return texts
  }
}

/**
 * Serializes the value of a header: as JSON, or in the style `simple` (OpenAPI 3.1 section 4.8.12.3). Throws for a
 * character that is invalid in a header.
 */
function headerText({ name, explode, isJson }: ResponseHeader, value: unknown): string | string[] {
  if (isJson) return checkedHeader(name, asciiJson(value))
  // Set-Cookie headers must not be joined into one (RFC 6265 section 3).
  if (Array.isArray(value) && name.toLowerCase() === 'set-cookie')
    return value.map((one) => checkedHeader(name, scalar(one)))
  if (Array.isArray(value)) return checkedHeader(name, value.map(scalar).join())
  if (typeof value !== 'object' || value === null) return checkedHeader(name, scalar(value))
  const members = Object.entries(value).map(([key, member]) => `${key}${explode ? '=' : ','}${scalar(member)}`)
  return checkedHeader(name, members.join())
}

/** Serializes a value to JSON in ASCII, since other characters are not portable in a header (RFC 9110 section 5.5). */
const asciiJson = (value: unknown): string =>
  `${stringifyJson(value)}`.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const scalar = (value: unknown): string => (typeof value === 'string' ? value : `${stringifyJson(value)}`)

function checkedHeader(name: string, text: string): string {
  validateHeaderValue(name, text)
  return text
}

/**
 * Sets the headers of a response. Names that Vary already lists are kept, since caches rely on them, and so are links
 * that announce the end of the operation.
 */
export function setHeaders(reply: FastifyReply, headers: HeaderTexts): void {
  for (const [name, text] of headers) {
    const key = name.toLowerCase()
    if (key === 'vary') addVary(reply, String(text))
    else reply.header(name, key === 'link' && reply.hasHeader(key) ? `${reply.getHeader(key)}, ${text}` : text)
  }
}
