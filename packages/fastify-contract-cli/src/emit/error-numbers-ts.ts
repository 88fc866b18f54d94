import { serviceErrors } from 'fastify-contract/contract'
import { errorTableOf } from '../document/error-numbers.ts'
import type { Document } from '../document/openapi-document.ts'
import { blockText } from '../text/source-text.ts'

/**
 * Returns the source of the error number module. The service's code and log need it even if the document has no table.
 */
export function errorNumberModule(document: Document): string {
  const table = errorTableOf(document) ?? serviceErrors
  let lines = ''
  for (const [name, { error, meaning }] of Object.entries(table))
    lines += `  /** ${blockText(meaning)}. */\n  ${name}: ${error},\n`
  const origin = errorTableOf(document) === undefined ? "The service's errors" : "The contract's table of errors"
  return `/** ${origin}: the HTTP status times 100, plus a number of its own. */\nexport const errorNumbers = {\n${lines}} as const\n`
}
