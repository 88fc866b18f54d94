/*
 * The types of what an application writes, without the server: a compiler that only checks handlers reads a fifth
 * fewer files.
 */
export { ContractError } from './contract/errors.ts'
export type { AnyErrorBody, ErrorBody, ErrorFacts, ErrorRequest } from './response/error-writer.ts'
export type { Handlers } from './routes/handler-types.ts'
