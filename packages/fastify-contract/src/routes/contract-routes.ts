import type { FastifyInstance, RouteOptions } from 'fastify'
import type { VerifierFactory } from '../auth/verifiers.ts'
import type { Contract, Operation } from '../contract/routes.ts'
import { type BodyMemory, bodyMemory } from '../http/body-memory.ts'
import { errorSender } from '../http/error-responses.ts'
import type { Observer, WriteError } from '../http/request-context.ts'
import type { Guard, Hook } from '../http/request-guards.ts'
import { type OpenScopes, openStreamScopes } from '../http/streams.ts'
import type { IdempotencyOptions } from '../idempotency/keyed-operation.ts'
import { keyedOperations } from '../idempotency/keyed-operations.ts'
import {
  createLoadShedder,
  defaultLimits,
  type Limits,
  type LoadShedder,
  networkOf,
  type RateLimit,
  type RequestLimit,
  rateLimit,
  type ShedReason,
} from '../limits/limits.ts'
import { acceptBodies } from '../request/content-type-parsers.ts'
import { type AnyErrorBody, type ErrorBody, errorWriter } from '../response/error-writer.ts'
import { responseQueue } from '../response/response-queue.ts'
import { loadSchemaCode } from '../schema/schema-code.ts'
import { createValidator, type Validator } from '../schema/validator.ts'
import { queryAnnouncement } from './accept-query.ts'
import { describedOperations, type OptionsOf, prepareRouter, registerRoutes } from './register-routes.ts'
import { type AnyHandler, stepsOfEveryRequest, stepsOfOperation } from './request-steps.ts'
import { authentication, authLimits, createVerifiers, signedOperations } from './security.ts'
import { methodFinder } from './served-paths.ts'

/**
 * What the operations of a document need. `Handlers` is that of the generated `handler-types.d.ts`; `Operations` are the
 * `operations` of `api.d.ts`, by which an `errorBody` is checked that has no type of its own.
 */
export type ContractOptions<Handlers, Operations = unknown> = {
  /** The export of `generated/contract.mjs`. */
  contract: Pick<Contract, 'routes' | 'schemaCode'>
  /** Exactly one handler for each operationId. */
  handlers: Handlers
  /** A verifier for each security scheme, by its name in the document, such as `{ bearer: bearer(verifyToken) }`. */
  verifiers: Record<string, VerifierFactory>
  /** Creates the body of each error response that the server itself sends. */
  errorBody: ErrorBody<Operations>
  /** The realm of the authentication challenges (RFC 9110 section 11.5); default: the title of the document. */
  realm?: string
  /** Overrides of the default limits. */
  limits?: Partial<Limits>
  observer?: Observer
  /** Called for each request that is rejected because of overload. */
  shed?: (reason: ShedReason) => void
  /** Addresses and CIDR ranges of the proxies whose headers are trusted: X-Forwarded-For, and that of `mutualTls`. */
  trustProxy?: string[]
  /** Counts the requests of each client; default: by `limits.requests`. */
  requestLimit?: RequestLimit
  /**
   * Where the operations that declare the header Idempotency-Key keep their responses; false if their handlers implement
   * it. Default: in the memory of this process.
   */
  idempotency?: IdempotencyOptions | false
  /** Registers the plugins whose onRoute hooks must see the operations, such as `@fastify/swagger`. */
  plugins?: (app: FastifyInstance) => void
}

/** `ContractOptions` of an arbitrary document. */
export type AnyContractOptions = Omit<ContractOptions<unknown>, 'handlers' | 'errorBody'> & {
  handlers: Record<string, AnyHandler>
  errorBody: AnyErrorBody
}

/** The limits of the work for a contract, and what enforces them. */
export type Work = { limits: Limits; shedder: LoadShedder; memory: BodyMemory }

/** Returns the limits of the work for a contract, with the defaults for those that are not given. */
export function limitWork({ limits: given, shed = () => {} }: Pick<AnyContractOptions, 'limits' | 'shed'>): Work {
  const limits = { ...defaultLimits, ...given }
  const memory = bodyMemory(limits.bodyMemory, () => shed('body_memory'))
  return { limits, shedder: createLoadShedder(limits, shed), memory }
}

/** What the contracts of one server share. */
export type SharedWork = Work & {
  failureLimit: RateLimit
  requestLimit: RequestLimit
  queueResponse: ReturnType<typeof responseQueue>
}

/** Returns what the contracts of a server share. The app closes the load shedder. */
export function shareWork(
  app: FastifyInstance,
  work: Work,
  { requestLimit = rateLimit(work.limits.requests) }: Pick<AnyContractOptions, 'requestLimit'>,
): SharedWork {
  app.addHook('onClose', async () => work.shedder.close())
  const failureLimit = rateLimit(work.limits.authFailures, networkOf)
  return { ...work, failureLimit, requestLimit, queueResponse: responseQueue() }
}

/** The state of a contract that is served on an app. */
export type ContractParts = SharedWork & {
  /** The app, which is the parent of the instance with the operations if they have a prefix. */
  app: FastifyInstance
  /** What precedes the paths of the document on an app of `createMultiServer`; otherwise empty. */
  added: string
  options: AnyContractOptions
  operations: Operation[]
  validator: Validator
  writeError: WriteError
  openStreams: OpenScopes
  /** Returns the options of an operation's routes. Set by `loadOperations`. */
  optionsOf: OptionsOf
  /** The keys of the routes that another plugin registers. */
  registered: Set<string>
}

/** One of the documents of a server: its prefix, and what precedes its paths. Both are empty if it is the only one. */
type Api = { prefix: string; added: string }

const onlyApi: Api = { prefix: '', added: '' }

/** Returns the state of a contract. Throws an error that lists every mismatch of the document and the options. */
export function contractParts(
  app: FastifyInstance,
  options: AnyContractOptions,
  work: SharedWork,
  { prefix, added }: Api = onlyApi,
): ContractParts {
  const { contract, handlers, verifiers, errorBody } = options
  const { routes, schemaCode } = contract
  const { operations, schemas, errorNumbers } = routes
  checkBinding(operations, handlers, verifiers, prefix)
  const named = prefix !== '' && { api: prefix }
  return {
    ...work,
    app,
    added,
    options,
    operations,
    validator: createValidator(schemas, schemaCode === undefined ? undefined : loadSchemaCode(schemaCode, routes)),
    writeError: errorWriter(errorBody, errorNumbers, (err) => app.log.error({ ...named, err }, 'errorBody failed')),
    openStreams: openStreamScopes(app),
    optionsOf: undefined as never,
    registered: new Set(),
  }
}

type InstanceSteps = {
  assign: Guard
  preflight?: Guard | undefined
  /** Adds the steps to the instance; default: as a hook. */
  addSteps?: (steps: Hook) => void
}

/**
 * Adds what all operations share to an instance: the error handler, the steps of every request, and the parsers. Returns
 * a function that lists the methods of a request target's path.
 */
export function prepareInstance(
  instance: FastifyInstance,
  { options, operations, limits, memory, shedder, writeError }: ContractParts,
  { assign, preflight, addSteps = (steps) => instance.addHook('onRequest', steps) }: InstanceSteps,
): (url: string) => string[] {
  const { routes } = options.contract
  const described = describedOperations(routes)
  const allowedMethods = methodFinder(described, instance.prefix)
  instance.setErrorHandler(errorSender(writeError))
  const announceQuery = queryAnnouncement(described, instance.prefix)
  const guards = { assign, preflight, shedLoad: shedder.shedLoad, announceQuery, allowedMethods }
  addSteps(stepsOfEveryRequest(guards))
  acceptBodies(instance, operations, { limits, memory })
  prepareRouter(instance, described)
  for (const [name, schema] of Object.entries(routes.schemas)) {
    if (instance.getSchema(name) !== undefined) {
      const problem = `the application and the document both have a schema ${name}`
      throw new Error(`${problem}; add that of the application in a plugin of its own`)
    }
    instance.addSchema({ ...(schema as object), $id: name })
  }
  return allowedMethods
}

/** Creates the verifiers, and the steps of the operations. */
export async function loadOperations(app: FastifyInstance, parts: ContractParts): Promise<void> {
  const { options, limits, memory, shedder, validator, openStreams, queueResponse } = parts
  const { contract, handlers, verifiers, trustProxy = [] } = options
  const { schemas, info } = contract.routes
  const { realm = info.title.replace(/[^ -~]/g, '?') } = options
  const authRateLimits = authLimits(parts.failureLimit, parts.requestLimit)
  const { withinFailureLimit, countFailure } = authRateLimits
  const created = await createVerifiers(verifiers, { app, realm, withinFailureLimit, countFailure, trustProxy })
  const signed = signedOperations(parts.operations, created)
  const shared = {
    schemas,
    validator,
    authenticate: authentication(created, authRateLimits),
    openStreams,
    runWithTimeout: shedder.runWithTimeout,
    queueResponse,
    bounds: { limits, memory },
    keyed: keyedOperations(app, options.idempotency, {
      operations: parts.operations,
      writeError: parts.writeError,
      handlerTime: limits.handlerTime,
    }),
  }
  parts.optionsOf = function optionsOf(operation) {
    const { operationId, security, schema } = operation
    const handler = handlers[operationId] as AnyHandler
    return {
      schema: { operationId, security, ...schema },
      ...stepsOfOperation({ ...shared, operation, handler, isSigned: signed.has(operationId) }),
    } as RouteOptions
  }
}

/** Registers the routes of the operations that no other plugin has registered, and those that reject requests. */
export function registerOperations(instance: FastifyInstance, { options, optionsOf, registered }: ContractParts): void {
  registerRoutes(instance, options.contract.routes, optionsOf, registered)
}

/** Loads the operations, the plugins of the options, and the routes, when the app loads its plugins. */
export function serveOperations(instance: FastifyInstance, parts: ContractParts): void {
  instance.register(onInstance(async () => await loadOperations(instance, parts)))
  parts.options.plugins?.(instance)
  instance.register(onInstance(async () => registerOperations(instance, parts)))
}

/**
 * Returns a plugin that Fastify does not encapsulate. Unlike the function of `after`, it is not called after an error of
 * an earlier plugin.
 */
export const onInstance = (plugin: () => Promise<void>) =>
  Object.assign(plugin, { [Symbol.for('skip-override')]: true })

/**
 * Throws one error that lists every operation without a handler, security scheme without a verifier, and handler
 * without an operation. Otherwise requests would get a 500 or skip authentication, or a handler would never be called.
 */
function checkBinding(operations: Operation[], handlers: object, verifiers: object, prefix: string): void {
  const problems: string[] = []
  const of = prefix === '' ? '' : ` of ${prefix}`
  const ids = new Set<string>()
  for (const { operationId, security } of operations) {
    const name = `operation ${operationId}`
    ids.add(operationId)
    if (!Object.hasOwn(handlers, operationId)) problems.push(`${name} has no handler; add one to \`handlers\``)
    for (const scheme of security.flatMap(Object.keys)) {
      if (!Object.hasOwn(verifiers, scheme))
        problems.push(`${name}: security scheme ${scheme} has no verifier; add one to \`verifiers\``)
    }
  }
  for (const id of Object.keys(handlers)) {
    if (!ids.has(id))
      problems.push(`handler ${id} has no operation in the document; remove it, or describe its operation`)
  }
  if (problems.length > 0)
    throw new Error([`the document${of} and its handlers do not match`, ...problems].join('\n  '))
}
