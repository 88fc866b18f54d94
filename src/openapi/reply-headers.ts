import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { addVary } from '../http/vary.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { Operation, ReplyHeader } from './routes.ts'
import type { Schema } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

/** The headers of an answer as Node takes them, by name. */
export type HeaderTexts = [name: string, text: string | string[]][]

/** Returns the texts of the headers that a handler gives. */
export type WriteHeaders = (given: Record<string, unknown> | undefined) => HeaderTexts

/**
 * Returns what checks the headers of a handler for one response of an operation, by its status in the document, and
 * writes them. It throws for a header that is missing, that the response does not declare, or that breaks its schema.
 * Undefined for a response that declares none.
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
    if (unknown !== undefined) throw new Error(`operation ${operationId}: response ${status} has no header ${unknown}`)
    return declared.flatMap((header): HeaderTexts => {
      const { name, isRequired } = header
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined) {
        if (!isRequired) return []
        throw new Error(`operation ${operationId}: response ${status} has no ${name}, which it requires`)
      }
      checks.get(name)?.(value)
      return [[name, textOf(header, value)]]
    })
  }
}

/** Writes the value of a header in the style simple (OpenAPI 3.1 section 4.8.12.3). Throws for a character that no header has. */
function textOf({ name, explode }: ReplyHeader, value: unknown): string | string[] {
  // Several of these cannot be one header (RFC 6265 section 3).
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

/** Sets the headers of an answer; what Vary names already stays, since a cache relies on it. */
export function setHeaders(reply: FastifyReply, headers: HeaderTexts): void {
  for (const [name, text] of headers) {
    if (name.toLowerCase() === 'vary') addVary(reply, String(text))
    else reply.header(name, text)
  }
}
