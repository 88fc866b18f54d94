import type { FastifyInstance } from 'fastify'
import type { Contract } from '../contract/routes.ts'
import type { ContractParts } from './contract-routes.ts'

const partsKey = Symbol('parts of the server')

type Holder = FastifyInstance & { [partsKey]?: ContractParts | undefined }

/** Keeps the parts of a contract for the plugins of this package that are registered on its instance. */
export function keepParts(instance: FastifyInstance, parts: ContractParts): void {
  Object.assign(instance, { [partsKey]: parts })
}

/** Returns the parts of the contract that an instance serves. Throws an error for one that serves none. */
export function serverPartsOf(instance: Holder): ContractParts {
  const parts = instance[partsKey]
  if (parts !== undefined) return parts
  const problem = 'this plugin needs an app of createServer; register it on one'
  throw new Error(`${problem}, or in the option plugins of one of the contracts of createMultiServer`)
}

/** What a server shares with the plugins of this package. */
export type ServerParts = Pick<ContractParts, 'limits' | 'memory' | 'operations' | 'validator'>

const servedKey = Symbol('documents of the server')

/** The documents of a server by their prefixes. */
export type ServedDocuments = Record<string, Pick<Contract, 'routes'>>

/** Keeps the documents of a server with several, so that `runService` can compare them with its own. */
export function keepServed(app: FastifyInstance, served: ServedDocuments): void {
  Object.assign(app, { [servedKey]: served })
}

/** Returns the documents of a server with several; undefined for any other server. */
export const servedDocuments = (
  app: FastifyInstance & { [servedKey]?: ServedDocuments },
): ServedDocuments | undefined => app[servedKey]
