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
export { routesOf } from './emit/routes-json.ts'
export { normalizedDocument } from './passes/normalize.ts'
export { checkDocument } from './rules/check-document.ts'
export { virtualProgram } from './typescript/virtual-program.ts'
