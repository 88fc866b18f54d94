export { listVerifier, newToken, type VerifyToken } from './auth/tokens.ts'
export type { Verifier, VerifierContext, VerifierFactory } from './auth/verifiers.ts'
export {
  type ApiKeyLocation,
  apiKey,
  type BearerAuth,
  basic,
  bearer,
  bearerHook,
  mutualTls,
  type OpenIdProvider,
  openIdConnect,
  type ProxyCertificate,
  tokensAsPasswords,
  type VerifyPassword,
} from './auth/verifiers.ts'
export { ContractError, type ErrorName } from './http/errors.ts'
export { decodeJson } from './http/read-body.ts'
export { type NumberedLine, readLines } from './http/read-lines.ts'
export { type Client, type Observer, type RequestContext, requestContext } from './http/request-context.ts'
export type { JsonDocument } from './json/json-document.ts'
export { stringifyJson } from './json/json-document.ts'
export { JsonError, parseJson } from './json/parse-json.ts'
export { defaultLimits, type Limits } from './limits/limits.ts'
export type { Operation, Routes } from './serve/contract.ts'
export { type Contract, type Digests, loadContract } from './serve/contract.ts'
export { contractPlugin, type PluginOptions } from './serve/contract-plugin.ts'
export type { ContractOptions } from './serve/contract-routes.ts'
export { createServer, type ServerOptions } from './serve/create-server.ts'
export type { ErrorBody, ErrorFacts, ErrorRequest } from './serve/error-writer.ts'
export type { Handler, Handlers, OperationRequest, OperationResponse } from './serve/handler-types.ts'
export { type OperationResolver, operationResolver } from './serve/operation-resolver.ts'
export { createValidator, type Validator } from './serve/validator.ts'
