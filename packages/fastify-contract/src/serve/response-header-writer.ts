import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { addVary } from '../http/vary.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { Operation, ResponseHeader } from './routes.ts'
import type { Schema } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

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
  { operationId, schema: { response }, replyHeaders = {} }: Operation,
  status: string,
  validator: Validator,
): WriteHeaders | undefined {
  const declared = replyHeaders[status]
  if (declared === undefined) return undefined
  const schemas = response[status]?.headers as Record<string, Schema>
  const checks = new Map(
    declared.map(({ name }) => [name, validator.response(schemas[name] as Schema, `header ${name}`)]),
  )
  return (given = {}) => {
    const unknown = Object.keys(given).find((name) => !checks.has(name))
    if (unknown !== undefined)
      throw new Error(`operation ${operationId}: response ${status} declares no header ${unknown}`)
    return declared.flatMap((header): HeaderTexts => {
      const { name, isRequired } = header
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined) {
        if (!isRequired) return []
        throw new Error(`operation ${operationId}: response ${status} requires the header ${name}`)
      }
      checks.get(name)?.(value)
      return [[name, textOf(header, value)]]
    })
  }
}

/**
 * Serializes the value of a header in the style `simple` (OpenAPI 3.1 section 4.8.12.3). Throws for a character that is
 * invalid in a header.
 */
function textOf({ name, explode }: ResponseHeader, value: unknown): string | string[] {
  // Set-Cookie headers must not be joined into one (RFC 6265 section 3).
  if (Array.isArray(value) && name.toLowerCase() === 'set-cookie') return value.map((one) => valid(name, scalar(one)))
  if (Array.isArray(value)) return valid(name, value.map(scalar).join())
  if (typeof value !== 'object' || value === null) return valid(name, scalar(value))
  const members = Object.entries(value).map(([key, member]) => `${key}${explode ? '=' : ','}${scalar(member)}`)
  return valid(name, members.join())
}

const scalar = (value: unknown): string => (typeof value === 'string' ? value : `${stringifyJson(value)}`)

function valid(name: string, text: string): string {
  validateHeaderValue(name, text)
  return text
}

/** Sets the headers of a response. Names that Vary already lists are kept, since caches rely on them. */
export function setHeaders(reply: FastifyReply, headers: HeaderTexts): void {
  for (const [name, text] of headers) {
    if (name.toLowerCase() === 'vary') addVary(reply, String(text))
    else reply.header(name, text)
  }
}
