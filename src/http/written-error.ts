import type { ContractError } from './errors.ts'
import type { RequestContext } from './request-context.ts'

/** The body of an error, as it leaves. */
export type WrittenError = { contentType: string; text: string }

/** Returns the body of an error that ends a request. It does not throw. */
export type WriteError = (error: ContractError, request: RequestContext) => WrittenError
