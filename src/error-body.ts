import type { ErrorBody } from './openapi/error-types.ts'

/** Returns the body of an error that the service answers with itself, as the document describes its errors. */
export const errorBody: ErrorBody = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})
