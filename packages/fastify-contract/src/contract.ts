export { parseDateTime } from './auth/token-file.ts'
export { isScope } from './auth/tokens.ts'
export { type ErrorName, keyErrors, serviceErrors } from './contract/errors.ts'
export { basicCredentials, exampleCommand, examplePlaceholders } from './contract/example-command.ts'
export {
  acceptQuery,
  contentTypeOf,
  essenceOf,
  isInRange,
  isRange,
  kindOf,
  type MediaKind,
  needsBoundary,
  parseContentType,
  type RequestKind,
  rangeOf,
  recordSeparator,
  requestKindOf,
} from './contract/media-types.ts'
export { addedPrefix, isPathPrefix } from './contract/path-prefixes.ts'
export type {
  Content,
  Contract,
  Form,
  FormField,
  LocationLink,
  NestedPlace,
  Operation,
  PreconditionRules,
  ResponseHeader,
  RouteSchema,
  Routes,
  SecurityRequirement,
  Selector,
  SerializedParameter,
  SerializedValue,
  ServedOperation,
  ServedPath,
  ServiceHeader,
  ValidatorName,
} from './contract/routes.ts'
export { serviceHeaders } from './contract/routes.ts'
export {
  documentationKeywords,
  inPlaceKeywords,
  isAnnotation,
  isDocumentation,
  type Schema,
  type SchemaShape,
  schemaKeywords,
  schemasIn,
} from './contract/schema-keywords.ts'
export { decodedOrSame } from './http/request-head.ts'
export { type ServerSentEvent, serializeEvent } from './http/streams.ts'
export { hasKeys } from './idempotency/keyed-operation.ts'
export { isToolHeader } from './mcp/tool-headers.ts'
export { isEntityTag } from './preconditions/entity-tags.ts'
export { parseHttpDate } from './preconditions/http-dates.ts'
export { contentNegotiation } from './request/accept.ts'
export { isOfTypes } from './request/text-values.ts'
export { type HandlerResponse, responseKey } from './response/send-response.ts'
export { isStream } from './response/streamed-body.ts'
