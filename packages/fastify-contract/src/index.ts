export { basic, tokensAsPasswords, type VerifyPassword } from './auth/basic.ts'
export { mutualTls, type ProxyCertificate } from './auth/mutual-tls.ts'
export { listVerifier, newToken, type VerifyToken } from './auth/tokens.ts'
export type { Verifier, VerifierContext, VerifierFactory } from './auth/verifiers.ts'
export {
  type ApiKeyLocation,
  apiKey,
  type BearerAuth,
  bearer,
  bearerHook,
  type OpenIdProvider,
  openIdConnect,
} from './auth/verifiers.ts'
export { ContractError, type ErrorName } from './contract/errors.ts'
export type { Contract, Operation, Routes } from './contract/routes.ts'
export { type NumberedLine, readLines } from './http/read-lines.ts'
export { type Client, type Observer, type RequestContext, requestContext } from './http/request-context.ts'
export { decodeJson } from './json/decode-json.ts'
export type { JsonDocument } from './json/json-document.ts'
export { JsonError, parseJson } from './json/parse-json.ts'
export { stringifyJson } from './json/write-json.ts'
export { defaultLimits, type Limits } from './limits/limits.ts'
export type { EntityTag } from './preconditions/entity-tags.ts'
export { type HttpDate, httpDate } from './preconditions/http-dates.ts'
export type { Checked, Preconditions } from './preconditions/precondition-check.ts'
export type { AnyErrorBody, ErrorBody, ErrorFacts, ErrorRequest } from './response/error-writer.ts'
export {
  type CacheDirectives,
  cacheControl,
  type LinkTarget,
  linkHeader,
  retryAfter,
  vary,
} from './response/header-values.ts'
export { contractPlugin, type PluginOptions } from './routes/contract-plugin.ts'
export type { ContractOptions } from './routes/contract-routes.ts'
export {
  type ApiOptions,
  createMultiServer,
  type MultiServerOptions,
  type SharedOptions,
} from './routes/create-multi-server.ts'
export { createServer, type ServerOptions } from './routes/create-server.ts'
export type { Handler } from './routes/handler-types.ts'
export { type OperationResolver, operationResolver } from './routes/operation-resolver.ts'
export type { AnyHandler } from './routes/request-steps.ts'
export { requiredScopes } from './routes/security.ts'
export type { StandardSchema } from './schema/standard-schema.ts'
export { createValidator, type Validator } from './schema/validator.ts'
