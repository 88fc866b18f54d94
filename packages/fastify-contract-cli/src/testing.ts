import type { Routes } from 'fastify-contract/contract'
import type { Document } from './document/openapi-document.ts'
import { routesOf } from './emit/route-table.ts'
import { normalizedDocument } from './passes/normalize.ts'
import { checkDocument } from './rules/check-document.ts'

// What the tests of the other packages of this repository need to make routes of a document in memory. It may change in
// any version.
export { callStyles } from './document/call-styles.ts'
export { join, resolve } from './document/json-pointer.ts'
export {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  locate,
  type Parameter,
} from './document/openapi-document.ts'
export { int64Responses } from './emit/client-json.ts'
export { handlerStubs } from './emit/handler-stubs.ts'
export { normalizedDocument } from './passes/normalize.ts'

/** Returns the routes of a document, without linting it. Throws the list of its unsupported features. */
export function compileRoutes(document: Document): Routes {
  const { rejected } = checkDocument(document)
  if (rejected.length > 0) throw new Error(rejected.join('\n'))
  return routesOf(normalizedDocument(document))
}
