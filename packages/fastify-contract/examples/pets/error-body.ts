import type { ErrorBody } from 'fastify-contract'
import type { operations } from './generated/api.js'

export const errorBody: ErrorBody<operations> = ({ statusCode, message }) => ({
  contentType: 'application/json',
  body: { code: statusCode, message },
})
