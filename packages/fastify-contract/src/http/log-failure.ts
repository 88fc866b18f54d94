import type { FastifyRequest } from 'fastify'
import { contextOf } from './request-context.ts'

/** Logs the error that caused a request to fail. The client gets no details of it. */
export const logFailure = ({ log, raw }: FastifyRequest, err: unknown): void =>
  log.error({ request_id: contextOf(raw).id, err }, 'request failed')
