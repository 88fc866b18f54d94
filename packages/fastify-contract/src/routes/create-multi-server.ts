import type { FastifyInstance } from 'fastify'
import { errorSender } from '../http/error-responses.ts'
import { contextOf, recordApi, type WriteError } from '../http/request-context.ts'
import { assignServerLog, type Guard, type Hook, serverOptions } from '../http/request-guards.ts'
import { acceptBodiesOfGet } from '../request/content-type-parsers.ts'
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
import { limitedServer, preflightGuard, type ServerOptions, trackServer } from './create-server.ts'
import { checkPrefixes, prefixAddedTo, prefixOf, routesBelow, selectorBelow } from './prefixes.ts'
import { describedOperations, prepareRouter, rejectUnknownPaths } from './register-routes.ts'
import { stepsOfEveryRequest, stepsOfServer } from './request-steps.ts'
import { withoutInnerMark } from './served-paths.ts'
import { keepParts, keepServed } from './server-parts.ts'

/** The options of one of several documents; see ContractOptions. */
export type ApiOptions<Handlers, Operations = unknown> = Pick<
  ContractOptions<Handlers, Operations>,
  'contract' | 'handlers' | 'verifiers' | 'errorBody' | 'realm' | 'idempotency' | 'plugins'
>

/** The options of a server that its documents share; see ServerOptions. */
export type SharedOptions = Omit<ServerOptions<unknown>, keyof ApiOptions<unknown>>

/** The options of `createMultiServer`. `Apis` has the `Handlers` of each document by its prefix. */
export type MultiServerOptions<Apis extends object> = SharedOptions & {
  /** The documents by their prefixes, such as `/v1`. No prefix may contain another one. */
  contracts: { [Prefix in keyof Apis]: ApiOptions<Apis[Prefix]> }
  /** The prefix whose `errorBody` creates the bodies of errors outside of all prefixes, and of the HTTP parser. */
  errors: keyof Apis
}

type AnyApiOptions = Pick<AnyContractOptions, keyof ApiOptions<unknown>>

/** `MultiServerOptions` of arbitrary documents. */
export type AnyMultiServerOptions = SharedOptions & { contracts: Record<string, AnyApiOptions>; errors: string }

/**
 * Returns a Fastify instance that serves the operations of several documents, each under its own prefix, as those of two
 * versions of an API; it does not listen yet. Limits, log, observer and shutdown are common to all; each document has its
 * own handlers, verifiers and error bodies. Throws an error for a wrong prefix, and as `createServer` does for each
 * document. The hooks and plugins of the caller apply to all operations, those of the option `plugins` of a document to
 * its own.
 */
export function createMultiServer<Apis extends object>(options: MultiServerOptions<Apis>): FastifyInstance {
  const { contracts, errors, ...shared } = options as unknown as AnyMultiServerOptions
  const prefixes = Object.keys(contracts)
  checkPrefixes(prefixes)
  if (!prefixes.includes(errors))
    throw new Error(`errors is ${JSON.stringify(errors)}; expected the prefix of a contract: ${prefixes.join(', ')}`)
  for (const [prefix, { contract }] of Object.entries(contracts))
    if (contract === undefined)
      throw new Error(`contracts: "${prefix}" has no contract; add the export of its generated contract.mjs`)
  const work = limitWork(shared)
  const { limits } = work
  const served = Object.entries(contracts).map(([prefix, api]) => servedBelow(prefix, api, shared))
  const select = selectorBelow(served)
  // With one document, neither the log nor the metrics name it.
  const hasNames = served.length > 1
  const app = limitedServer(shared, limits, select, hasNames ? frameworkErrorsBelow(prefixOf(prefixes)) : undefined)
  const sharedWork = shareWork(app, work, shared)
  const apis = served.map(({ options, ...api }) => ({ ...api, parts: contractParts(app, options, sharedWork, api) }))
  const writers = new Map<string | undefined, WriteError>(apis.map(({ prefix, parts }) => [prefix, parts.writeError]))
  const writeOther = writers.get(errors) as WriteError
  const writeError: WriteError = (error, context) => (writers.get(context.api) ?? writeOther)(error, context)
  const operations = apis.flatMap(({ parts }) => parts.operations)
  const apiKeyHeaders = Object.values(contracts).flatMap(({ contract }) => contract.routes.apiKeyHeaders ?? [])
  const preflight = preflightGuard(app, shared, limits, { operations, apiKeyHeaders })
  const stepsWith = (assign: Guard, others: Hook) =>
    stepsOfServer({ headersLimit: limits.headers, assign, unmark: select && withoutInnerMark }, others)
  const { shedLoad } = work.shedder
  const outside = stepsOfEveryRequest({ assign: assignServerLog, shedLoad, allowedMethods: () => [], preflight })
  keepSteps(app, stepsWith(assignServerLog, outside))
  app.setErrorHandler(errorSender(writeError))
  app.addHook('onRequest', runSteps)
  acceptBodiesOfGet(app, operations)
  prepareRouter(app, [], withoutInnerMark)
  trackServer(app, shared, limits, writeError)
  for (const { prefix, parts } of apis) app.register(serveApi, { prefix, parts })
  keepServed(app, Object.fromEntries(Object.entries(contracts).map(([prefix, { contract }]) => [prefix, contract])))
  return app

  async function serveApi(instance: FastifyInstance, { prefix, parts }: { prefix: string; parts: ContractParts }) {
    if (hasNames) instance.log = app.log.child({ api: prefix })
    const assign = hasNames ? assignApi(prefix) : assignServerLog
    const addSteps = (steps: Hook) => keepSteps(instance, stepsWith(assign, steps))
    rejectUnknownPaths(instance, prepareInstance(instance, parts, { assign, preflight, addSteps }))
    keepParts(instance, parts)
    serveOperations(instance, parts)
  }
}

/** Returns the options of a document, with its paths below a prefix. */
function servedBelow(prefix: string, { contract, ...api }: AnyApiOptions, shared: SharedOptions) {
  const routes = routesBelow(contract.routes, prefix)
  return {
    prefix,
    added: prefixAddedTo(contract.routes, prefix),
    operations: describedOperations(routes),
    options: { ...shared, ...api, contract: { ...contract, routes } },
  }
}

const stepsKey = Symbol('steps of every request')

/** Keeps the steps of every request that the routes of an instance serve. Its children inherit them. */
const keepSteps = (instance: FastifyInstance, steps: Hook): void => void Object.assign(instance, { [stepsKey]: steps })

/**
 * Runs the steps of the instance whose route the router has chosen. It is a hook of the whole app, so that it runs before the
 * hooks of the caller, as in a server of `createServer`.
 */
const runSteps: Hook = function runStepsOfInstance(request, reply, done) {
  const { [stepsKey]: steps } = request.server as unknown as { [stepsKey]: Hook }
  steps(request, reply, done)
}

/** Returns a guard that records the API of a request, and does the same as `assignServerLog`. */
const assignApi = (prefix: string): Guard =>
  function assign(request, reply) {
    recordApi(contextOf(request.raw), prefix)
    return assignServerLog(request, reply)
  }

/** Returns what sends the errors of Fastify before it has chosen a route: the text of the target tells the API. */
const frameworkErrorsBelow = (prefixIn: ReturnType<typeof prefixOf>): typeof serverOptions.frameworkErrors =>
  function sendFrameworkError(error, request, reply) {
    const prefix = prefixIn(request.raw.url as string)
    if (prefix !== undefined) recordApi(contextOf(request.raw), prefix)
    serverOptions.frameworkErrors(error, request, reply)
  }
