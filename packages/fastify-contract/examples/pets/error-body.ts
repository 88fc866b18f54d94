import type { ErrorBody } from 'fastify-contract'
import type { operations } from './generated/api.d.ts'

export const errorBody: ErrorBody<operations> = ({ statusCode, message }) => ({
  contentType: 'application/json',
  body: { code: statusCode, message },
})
