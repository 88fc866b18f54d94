import type { ContractError } from './errors.ts'
import type { RequestContext } from './request-context.ts'

/** The serialized body of an error response. */
export type WrittenError = { contentType: string; text: string }

/** Serializes the body of an error response. Does not throw. */
export type WriteError = (error: ContractError, request: RequestContext) => WrittenError
