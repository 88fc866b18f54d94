import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Claim } from './key-store.ts'

/** The state of a request to an operation with idempotency keys. */
export type KeyedState = {
  reply: FastifyReply
  /** The digest of the body; undefined if it is empty, or if the handler reads it. */
  bodyDigest?: Buffer
  /** Present while the handler runs. */
  claim?: Claim
}

const stateKey = Symbol('idempotency key')

type Keyed = IncomingMessage & { [stateKey]?: KeyedState }

/** Stores the state of a request. */
export function setKeyedState(request: Keyed, state: KeyedState): void {
  request[stateKey] = state
}

/** Returns the state of a request, which the step of its operation has stored. */
export const keyedState = (request: Keyed): KeyedState => request[stateKey] as KeyedState

/** Returns the transaction in which the handler of a request writes; undefined if the request has none. */
export const transactionOfRequest = (request: Keyed): unknown => request[stateKey]?.claim?.transaction
