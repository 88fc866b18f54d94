import type { ErrorFacts } from 'fastify-contract'
import { isRange } from 'fastify-contract/contract'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { assignability } from '../emit/assignable-values.ts'
import type { DerivedErrorBody } from './error-body.ts'

/** Returns the derived module if each body that it makes has the type of one of the error responses of the document. */
export function checkedErrorBody(document: Document, derived: DerivedErrorBody): DerivedErrorBody {
  if ('reasons' in derived) return derived
  const isAssignable = assignability(document)
  const declared = errorTypes(document)
  const reasons: string[] = []
  for (const { contentType, body } of derived.replies) {
    const sample = body.make(facts, { id: 'a request', operation: undefined })
    const isOfType = ([mediaType, schema]: ErrorType) =>
      isRange(mediaType) || (mediaType === contentType && isAssignable(schema, sample))
    if (declared.length > 0 && !declared.some(isOfType))
      reasons.push(`${contentType}: no error response has the type of the body that its members give`)
  }
  return reasons.length === 0 ? derived : { reasons }
}

/** An error whose facts are none of the values that a schema may list. */
const facts: ErrorFacts = { error: -1, statusCode: -1, kind: 'a kind of error', message: 'a message' }

type ErrorType = [mediaType: string, schema: unknown]

/** Returns what the types of the operations have as bodies of errors. */
function errorTypes(document: Document): ErrorType[] {
  const found: ErrorType[] = []
  for (const { responses } of endpoints(document))
    for (const [status, { content = {} }] of Object.entries(responses))
      if (/^([45]|default)/.test(status))
        for (const [mediaType, { schema = true }] of Object.entries(content)) found.push([mediaType, schema])
  return found
}
