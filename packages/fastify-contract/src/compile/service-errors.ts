import { negotiation } from '../serve/content-negotiation.ts'
import { requestKindOf } from '../serve/media-types.ts'
import type { Operation } from '../serve/routes.ts'

/** An error response of the service itself. */
export type ServiceError = {
  /** Its number and meaning if the document has no table of error numbers. */
  error: number
  meaning: string
  /** Returns whether it may end a request to an operation; absent if such requests do not reach an operation. */
  ends?: (operation: Operation) => boolean
  /** When it occurs: before the operation of the request is known, or both before and after. Default: after. */
  occurs?: 'before' | 'both'
}

const always = () => true
const hasBody = ({ schema }: Operation) => schema.body !== undefined
const hasJsonBody = ({ schema }: Operation) =>
  Object.keys(schema.body?.content ?? {}).some((mediaType) => requestKindOf(mediaType) === 'json')
/** The router decodes paths and the query before the operation is known; split path parameters are decoded later. */
const hasDecodedText = ({ parameters }: Operation) =>
  parameters.some((parameter) => parameter.in === 'query' || parameter.segment !== undefined)
const isValidated = ({ schema, parameters }: Operation) => schema.body !== undefined || parameters.length > 0
const requiresCredentials = ({ security }: Operation) =>
  security.some((requirement) => Object.keys(requirement).length > 0)
const requiresScopes = ({ security }: Operation) =>
  security.some((requirement) => Object.values(requirement).some((scopes) => scopes.length > 0))

/** The error responses of the service itself, by their names in its code. */
export const serviceErrors: Record<string, ServiceError> = {
  malformedRequest: { error: 40000, meaning: 'The request is not well-formed HTTP', ends: always, occurs: 'both' },
  undecodableTarget: {
    error: 40001,
    meaning: 'The request target cannot be decoded',
    ends: hasDecodedText,
    occurs: 'both',
  },
  notJson: { error: 40002, meaning: 'The body is not JSON', ends: hasJsonBody },
  invalid: { error: 40003, meaning: 'The request does not match its schema', ends: isValidated },
  missingToken: { error: 40100, meaning: 'The credentials are missing', ends: requiresCredentials },
  invalidToken: { error: 40101, meaning: 'The credentials are not valid', ends: requiresCredentials },
  insufficientScope: { error: 40300, meaning: 'The credentials lack a scope', ends: requiresScopes },
  noSuchPath: { error: 40400, meaning: 'There is nothing at this path' },
  noSuchMethod: { error: 40500, meaning: 'The path does not have this method' },
  notAcceptable: {
    error: 40600,
    meaning: 'The client accepts no media type of the response',
    ends: ({ schema }) => negotiation(schema) !== undefined,
  },
  tooSlow: { error: 40800, meaning: 'The request took too long to arrive', ends: always, occurs: 'before' },
  bodyTooLarge: { error: 41300, meaning: 'The body is too large', ends: hasBody },
  unsupportedMediaType: { error: 41500, meaning: 'The media type is not supported', ends: hasBody },
  unsupportedEncoding: { error: 41501, meaning: 'The content encoding is not supported', ends: hasBody },
  expectationFailed: { error: 41700, meaning: 'The expectation cannot be met', ends: always, occurs: 'before' },
  tooManyRequests: { error: 42900, meaning: 'Too many requests', ends: always },
  headersTooLarge: { error: 43100, meaning: 'The header section is too large', ends: always, occurs: 'before' },
  internal: { error: 50000, meaning: 'The service failed', ends: always, occurs: 'both' },
  unavailable: { error: 50300, meaning: 'The service is temporarily unavailable', ends: always, occurs: 'both' },
}
