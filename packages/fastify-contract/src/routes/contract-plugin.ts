import type { FastifyInstance } from 'fastify'
import { observeRequest, safeObserver } from '../http/observe-requests.ts'
import { assignRequestId, type Guard } from '../http/request-guards.ts'
import { parseQuery } from '../http/request-head.ts'
import {
  type AnyContractOptions,
  type ContractOptions,
  type ContractParts,
  contractParts,
  limitWork,
  prepareInstance,
  serveOperations,
  shareWork,
} from './contract-routes.ts'
import { rejectUnknownPaths } from './register-routes.ts'

/** The options of `contractPlugin`: those of the contract, and Fastify's own for a plugin. */
export type PluginOptions<Handlers, Operations = unknown> = ContractOptions<Handlers, Operations> & { prefix?: string }

/**
 * A Fastify plugin that serves the operations of a document in an application of one's own, under the prefix of the
 * registration. Its hooks, parsers, schemas and error handler do not apply outside of it. With a prefix, it also responds
 * to the other requests below the prefix, with 404 or 405. Rejects with an error that lists every operation without a
 * handler or verifier, and every extra handler.
 */
export async function contractPlugin<Handlers, Operations = unknown>(
  app: FastifyInstance,
  options: PluginOptions<Handlers, Operations>,
): Promise<void> {
  const parts = pluginParts(app, options as unknown as AnyContractOptions)
  preparePlugin(app, parts, options.prefix)
  serveOperations(app, parts)
}

/** Returns the parts of a contract on an app that `createServer` did not create. */
export function pluginParts(app: FastifyInstance, options: AnyContractOptions): ContractParts {
  checkPluginOperations(options)
  return contractParts(app, options, shareWork(app, limitWork(options), options))
}

/**
 * Prepares an instance of an app that `createServer` did not create. If the instance has a prefix of its own, it gets a
 * handler of unknown paths, which Fastify would otherwise set on its parent.
 *
 * @param prefix What the instance adds to the prefix of its parent.
 */
export function preparePlugin(instance: FastifyInstance, parts: ContractParts, prefix = ''): void {
  const observe = observeRequest(safeObserver(instance, parts.options.observer))
  const assign: Guard = (request, reply) => {
    observe(request, reply)
    // The parser of a query string is an option of the whole app.
    request.query = parseQuery((request.raw.url as string).replace(/^[^?]*\??/, ''))
    return assignRequestId(request, reply)
  }
  const allowedMethods = prepareInstance(instance, parts, { assign })
  if (!/[^/]/.test(prefix)) return
  claimPrefix(instance)
  rejectUnknownPaths(instance, allowedMethods)
}

/** The prefixes of each server that have a handler of unknown paths. */
const claimed = new WeakMap<object, Set<string>>()

/** Throws an error if a contract is served under the prefix already: Fastify would end the process without naming it. */
function claimPrefix({ server, prefix }: FastifyInstance): void {
  const prefixes = claimed.get(server) ?? new Set()
  if (prefixes.has(prefix)) {
    const problem = `a contract is already served under ${prefix}, whose unknown paths only one can reject`
    throw new Error(`${problem}; register both without a prefix, in a plugin with it`)
  }
  claimed.set(server, prefixes.add(prefix))
}

/** Throws an error that lists the operations that only a whole server can serve. */
function checkPluginOperations({ contract }: AnyContractOptions): void {
  const problems: string[] = []
  for (const { operationId, method, schema, selectors } of contract.routes.operations) {
    if (selectors !== undefined)
      problems.push(`operation ${operationId} shares its path with others and is selected by a parameter`)
    if (method === 'GET' && schema.body !== undefined) problems.push(`operation ${operationId} is a GET with a body`)
  }
  if (problems.length > 0)
    throw new Error(['a plugin cannot serve these operations; use createServer', ...problems].join('\n  '))
}
