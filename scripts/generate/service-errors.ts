import { negotiation } from '../../src/openapi/content-negotiation.ts'
import { requestKindOf } from '../../src/openapi/request-media.ts'
import type { Operation } from '../../src/openapi/routes.ts'

/** An error response of the service itself. */
export type ServiceError = {
  /** Its number and meaning if the document has no table of error numbers. */
  error: number
  meaning: string
  /** Returns whether it may end a request to an operation; absent if such requests do not reach an operation. */
  ends?: (operation: Operation) => boolean
  /** When it occurs: before the operation of the request is known, or both before and after. Default: after. */
  comes?: 'before' | 'both'
}

const always = () => true
const ofBodies = ({ schema }: Operation) => schema.body !== undefined
const ofJsonBodies = ({ schema }: Operation) =>
  Object.keys(schema.body?.content ?? {}).some((mediaType) => requestKindOf(mediaType) === 'json')
/** The router decodes paths and the query before the operation is known; split path parameters are decoded later. */
const ofDecodedTexts = ({ parameters }: Operation) =>
  parameters.some((parameter) => parameter.in === 'query' || parameter.segment !== undefined)
const ofParts = ({ schema, parameters }: Operation) => schema.body !== undefined || parameters.length > 0
const ofSchemes = ({ security }: Operation) => security.some((requirement) => Object.keys(requirement).length > 0)
const ofScopes = ({ security }: Operation) =>
  security.some((requirement) => Object.values(requirement).some((scopes) => scopes.length > 0))

/** The error responses of the service itself, by their names in its code. */
export const serviceErrors: Record<string, ServiceError> = {
  malformedRequest: { error: 40000, meaning: 'The request is not well-formed HTTP', ends: always, comes: 'both' },
  undecodableTarget: {
    error: 40001,
    meaning: 'The request target cannot be decoded',
    ends: ofDecodedTexts,
    comes: 'both',
  },
  notJson: { error: 40002, meaning: 'The body is not JSON', ends: ofJsonBodies },
  invalid: { error: 40003, meaning: 'The request does not match its schema', ends: ofParts },
  missingToken: { error: 40100, meaning: 'The credentials are missing', ends: ofSchemes },
  invalidToken: { error: 40101, meaning: 'The credentials are not valid', ends: ofSchemes },
  insufficientScope: { error: 40300, meaning: 'The credentials lack a scope', ends: ofScopes },
  noSuchPath: { error: 40400, meaning: 'There is nothing at this path' },
  noSuchMethod: { error: 40500, meaning: 'The path does not have this method' },
  notAcceptable: {
    error: 40600,
    meaning: 'The client accepts no media type of the response',
    ends: ({ schema }) => negotiation(schema) !== undefined,
  },
  tooSlow: { error: 40800, meaning: 'The request took too long to arrive', ends: always, comes: 'before' },
  bodyTooLarge: { error: 41300, meaning: 'The body is too large', ends: ofBodies },
  unsupportedMediaType: { error: 41500, meaning: 'The media type is not supported', ends: ofBodies },
  unsupportedEncoding: { error: 41501, meaning: 'The content encoding is not supported', ends: ofBodies },
  expectationFailed: { error: 41700, meaning: 'The expectation cannot be met', ends: always, comes: 'before' },
  tooManyRequests: { error: 42900, meaning: 'Too many requests', ends: always },
  headersTooLarge: { error: 43100, meaning: 'The header section is too large', ends: always, comes: 'before' },
  internal: { error: 50000, meaning: 'The service failed', ends: always, comes: 'both' },
  unavailable: { error: 50300, meaning: 'The service is temporarily unavailable', ends: always, comes: 'both' },
}
