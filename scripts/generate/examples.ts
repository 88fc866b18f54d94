import type { Schema } from '../../src/openapi/schema-keywords.ts'
import type { Outcome } from '../../src/openapi/send-response.ts'
import { exampleOf, madeValue } from './example-values.ts'
import { isInt64 } from './inexact-integers.ts'
import { resolve } from './json-pointer.ts'
import type { Document, Endpoint, Located, Response } from './openapi-document.ts'
import { headersOf, isGiven } from './response-headers.ts'
import { partsOf } from './schema-parts.ts'

type Example = { value?: unknown }

/** A media type or a parameter. */
export type WithExample = { schema?: Schema; example?: unknown; examples?: Record<string, Example> }

/** Returns the answer of an operation that succeeds, as the document shows it: the first 2xx, else its first response. */
export function exampleReply(document: Document, endpoint: Endpoint): Outcome {
  const { status, response } = successOf(endpoint)
  return { status, ...exampleHeaders(document, response), body: exampleBody(document, response) }
}

/**
 * Returns the same answer with other bodies, should the example not be what its schema says: one made of the examples of
 * the schema, and one without any.
 */
export function madeReplies(document: Document, endpoint: Endpoint): Outcome[] {
  const { status, response } = successOf(endpoint)
  return Object.values(response.content ?? {})
    .slice(0, 1)
    .flatMap(({ schema = {} }) => [exampleOf(document, schema), madeValue(document, schema)])
    .map((body) => ({ status, ...exampleHeaders(document, response), body }))
}

/** Each operation has a response: one without is refused. */
function successOf({ responses }: Endpoint): { status: number; response: Located<Response> } {
  const statuses = Object.keys(responses)
  const status = (statuses.find((each) => each.startsWith('2')) ?? statuses[0]) as string
  return {
    status: Number(status.replace('XX', '00').replace('default', '200')),
    response: responses[status] as Located<Response>,
  }
}

/** Returns the headers that a handler gives with a response, as the document shows them, each int64 a bigint; none for none. */
export function exampleHeaders(document: Document, response: Located<Response>): Pick<Outcome, 'headers'> {
  const shown = headersOf(document, response)
    .filter(([name]) => isGiven(name))
    .map(([name, header]) => {
      const value = exampleOfContent(document, header as WithExample)
      const isExact = partsOf(document, header.schema ?? true).some(({ schema }) => isInt64(schema))
      return [name, isExact && Number.isInteger(value) ? BigInt(value as number) : value]
    })
  return shown.length === 0 ? {} : { headers: Object.fromEntries(shown) }
}

/** Returns the body of a response, as the document shows it: the example of a name, else the first; undefined for none. */
export function exampleBody(document: Document, response: Response, name?: string): unknown {
  const [media] = Object.values((response.content ?? {}) as Record<string, WithExample>)
  return media && exampleOfContent(document, media, name)
}

/** Returns the example of a name of a media type or a parameter, else the first, else one made of its schema. */
export function exampleOfContent(
  document: Document,
  { schema, example, examples: given }: WithExample,
  name?: string,
): unknown {
  const examples: Record<string, Example> = Object(given)
  const chosen = name !== undefined && Object.hasOwn(examples, name) ? examples[name] : undefined
  const [first] = Object.values(examples)
  const named = chosen ?? (example === undefined ? first : undefined)
  const found = named === undefined ? example : (resolved(document, named) as Example).value
  return found === undefined ? exampleOf(document, schema ?? {}) : found
}

/** Returns whether a response has an example of this name. */
export const hasExample = ({ content = {} }: Response, name: string): boolean =>
  Object.values(content as Record<string, WithExample>)
    .slice(0, 1)
    .some(({ examples }) => Object.hasOwn(Object(examples), name))

function resolved(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...resolved(document, resolve(document, $ref)), ...rest }
}
