import type { ErrorBody } from 'fastify-contract'
import type { operations } from '../generated/api.d.ts'

/** Creates the body of each error response of the service, as described in the document. */
export const errorBody: ErrorBody<operations> = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})
