import { hasKeys } from 'fastify-contract/contract'
import type { Endpoint } from './openapi-document.ts'

/** Returns whether an operation of a document has idempotency keys: it declares their header, and changes something. */
export const hasKeyHeader = ({ method, parameters }: Pick<Endpoint, 'method' | 'parameters'>): boolean =>
  hasKeys({ method, parameters: parameters.map((each) => ({ in: each.in, key: each.name.toLowerCase() })) })
