export { join, resolve } from './document/json-pointer.ts'
export {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  locate,
  type Parameter,
} from './document/openapi-document.ts'
export { callStyles, int64Responses } from './emit/client-table.ts'
export { virtualProgram } from './emit/handler-stubs.ts'
export { routesOf } from './emit/route-schemas.ts'
export { normalizedDocument } from './passes/normalize.ts'
export { checkDocument } from './rules/check-document.ts'
