import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ContractError, keyErrors, overloaded } from '../contract/errors.ts'
import type { Operation } from '../contract/routes.ts'
import { errorSender, toContractError } from '../http/error-responses.ts'
import { checkBeforeParsing } from '../http/read-body.ts'
import { logFailure, type WriteError } from '../http/request-context.ts'
import type { Hook } from '../http/request-guards.ts'
import { endSource } from '../http/streams.ts'
import { uploadFailure } from '../http/upload.ts'
import { setHeaders } from '../response/response-headers.ts'
import type { HandlerResponse, ResponseSenders, SendResponse } from '../response/send-response.ts'
import { isStream } from '../response/streamed-body.ts'
import type { Claim, ClaimOutcome, KeyStore } from './key-store.ts'
import { type KeyedState, keyedState, setKeyedState } from './keyed-request.ts'
import { identify, keyHeader, requestKey } from './request-key.ts'
import { ResponseRecorder } from './response-recorder.ts'
import { decodeResponse, encodeResponse, RecordedResponse } from './stored-response.ts'

/** How the operations whose document declares the header Idempotency-Key get it. */
export type IdempotencyOptions = {
  /** Default: `memoryKeys()`, which only this process sees. */
  store: KeyStore
  /** Bytes of a response above which it is not kept; default: 1 MiB. */
  responseBytes?: number
  /** Milliseconds until a call of the store fails that has not ended; default: 5000. */
  storeTime?: number
}

/** The methods whose requests change nothing, and need no key (RFC 9110 section 9.2.1). */
const safeMethods = new Set<string>(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/** The part of an operation that says whether it has idempotency keys. A key of a header is its name in lower case. */
type KeyDeclaration = { method: string; parameters: { in: string; key: string }[] }

/** Returns whether an operation has idempotency keys: it declares the header, and its method is not safe. */
export const hasKeys = ({ method, parameters }: KeyDeclaration): boolean =>
  !safeMethods.has(method) && parameters.some((each) => each.in === 'header' && each.key === keyHeader)

/** A handler of any operation. */
type Handler = (input: never, request: FastifyRequest) => Promise<HandlerResponse>

/** An operation, and how its responses are sent. */
export type KeyedParts = { operation: Operation; handler: Handler; senders: ResponseSenders; send: SendResponse }

type Parts = KeyedParts & {
  /** The prefix of the API. */
  prefix: string
  writeError: WriteError
  /** Gets each handler with a key, and each end of a claim, while it runs. */
  track: TrackHandler
}

/** Tracks a running handler, or a call of the store, which may go on after the response was sent or its connection closed. */
export type TrackHandler = (ended: Promise<unknown>) => void

/** What an operation with idempotency keys has beside the others. */
export type KeyedOperation = {
  /** Prepares a request: its body is digested when it is read. */
  prepare: Hook
  /** Wraps the handler of the operation. */
  handler: (input: never, request: FastifyRequest) => Promise<HandlerResponse>
  /** Sends what the handler returned. */
  send: SendResponse
}

/** Stores the reply of a request, and digests its body when it is read, as it was sent. */
const prepare: Hook = function prepareKey({ raw }, reply, done) {
  const state: KeyedState = { reply }
  setKeyedState(raw, state)
  checkBeforeParsing(raw, function digestBody(bytes) {
    if (bytes.length > 0) state.bodyDigest = createHash('sha256').update(bytes).digest()
  })
  done()
}

/** Sends a response that was recorded, which is marked if it is sent again. */
function sendRecorded(reply: FastifyReply, response: RecordedResponse): undefined {
  reply.code(response.status)
  setHeaders(reply, response.texts)
  if (response.isReplay) reply.header('idempotent-replayed', 'true')
  reply.send(response.body)
  return undefined
}

/**
 * Statuses that say nothing about the outcome of a request: another attempt may succeed. Preconditions are no part of the
 * content that is compared, so after a 412 or 428 the client may send the current entity tag with the same key.
 */
const transient = new Set([408, 412, 413, 425, 428, 429])

/** Returns whether a response is kept for later requests with the key. */
const isOutcome = (status: number): boolean => status < 500 && !transient.has(status)

/** Returns what an operation with idempotency keys has beside the others. */
export function keyedOperation(
  { prefix, operation, handler, senders, send, writeError, track }: Parts,
  { store, responseBytes = 1_048_576, storeTime = 5_000 }: IdempotencyOptions,
): KeyedOperation {
  const { operationId } = operation
  const target = { prefix, operationId }
  const sendError = errorSender(writeError)
  return { prepare, handler: handleKeyed, send: sendKeyed }

  function sendKeyed(_senders: ResponseSenders, reply: FastifyReply, response: HandlerResponse) {
    return response instanceof RecordedResponse ? sendRecorded(reply, response) : send(senders, reply, response)
  }

  async function handleKeyed(input: never, request: FastifyRequest): Promise<HandlerResponse> {
    const key = requestKey(request) // 400
    if (key === undefined) return await handler(input, request)
    const keyed = identify(request, target, key)
    const outcome = await claimInTime(store, keyed, storeTime, track).catch((error) => unavailable(request, error)) // 503
    if (outcome.state === 'full') throw overloaded('the service keeps too many idempotency keys') // 503
    if (outcome.state === 'claimed') {
      const response = runClaimed(outcome.claim, input, request)
      track(response)
      return await response
    }
    if (outcome.fingerprint !== undefined && outcome.fingerprint !== keyed.fingerprint) throw keyReused() // 422
    if (outcome.state === 'running') throw requestInProgress() // 409
    return decodeResponse(outcome.response)
  }

  async function runClaimed(claim: Claim, input: never, request: FastifyRequest): Promise<HandlerResponse> {
    const state = keyedState(request.raw)
    state.claim = claim
    let response: HandlerResponse
    try {
      response = await handler(input, request)
      if (isOutcome(response.status) && !isStream(response.body)) response = recordResponse(state.reply, response)
    } catch (thrown) {
      return await fail(claim, thrown, request)
    }
    if (!isOutcome(response.status)) await release(claim, request)
    else await complete(claim, response, request)
    return response
  }

  /** Serializes a response. Throws if it does not match the document. */
  function recordResponse(reply: FastifyReply, response: HandlerResponse): RecordedResponse {
    const recorder = new ResponseRecorder(reply)
    send(senders, recorder as unknown as FastifyReply, response)
    return recorder.recorded
  }

  /**
   * Keeps an error that the handler threw for the client, unless the handler has a transaction, which is rolled back.
   */
  async function fail(claim: Claim, thrown: unknown, request: FastifyRequest): Promise<HandlerResponse> {
    const { statusCode } = toContractError(thrown)
    const isKept = isOutcome(statusCode) && claim.transaction === undefined && uploadFailure(request.raw) === undefined
    if (!isKept) {
      const isReleased = await release(claim, request)
      // A transaction that cannot be rolled back has lost its connection, which is why the handler failed.
      if (!isReleased && claim.transaction !== undefined && statusCode === 500) unavailable(request, thrown)
      throw thrown
    }
    const recorder = new ResponseRecorder(keyedState(request.raw).reply)
    sendError(thrown, request, recorder as unknown as FastifyReply)
    await complete(claim, recorder.recorded, request)
    return recorder.recorded
  }

  /** Lets shutdown wait for a call of the store that goes on after `storeTime`: the response was sent, and is to be kept. */
  function tracked<Result>(call: Promise<Result>): Promise<Result> {
    track(call)
    return call
  }

  /** Keeps a response. Throws a 503 if the writes of the handler are not known to be committed. */
  async function complete(claim: Claim, response: HandlerResponse, request: FastifyRequest): Promise<void> {
    const encoded = response instanceof RecordedResponse ? encodeResponse(response) : undefined
    const isTooLarge = encoded !== undefined && encoded.length > responseBytes
    if (isTooLarge) warn(request, `the response of ${operationId} is too large to be kept for its idempotency key`)
    try {
      const completion = { status: response.status, response: isTooLarge ? undefined : encoded }
      const isKept = await inTime(tracked(claim.complete(completion)), storeTime)
      if (!isKept) warn(request, `the lease of an idempotency key of ${operationId} ran out before its handler ended`)
    } catch (error) {
      if (claim.transaction !== undefined) {
        if (isStream(response.body)) endSource(response.body)
        unavailable(request, error)
      }
      logFailure(request, error)
    }
  }

  /** Frees a key. Resolves with false if that fails; its lease ends later. */
  async function release(claim: Claim, request: FastifyRequest): Promise<boolean> {
    try {
      await inTime(tracked(claim.release()), storeTime)
      return true
    } catch (error) {
      logFailure(request, error)
      return false
    }
  }
}

/** Claims a key. Rejects if that takes too long; the key is then released if it is claimed later. */
async function claimInTime(
  store: KeyStore,
  keyed: Parameters<KeyStore['claim']>[0],
  milliseconds: number,
  track: TrackHandler,
) {
  const claimed = store.claim(keyed)
  return await inTime(claimed, milliseconds, () => track(claimed.then(releaseLate)))
}

/** Waits for a call of a store. Rejects if it takes too long, after a call of `giveUp`. */
async function inTime<Result>(call: Promise<Result>, milliseconds: number, giveUp = ignore): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>(function rejectLate(_resolve, reject) {
    timer = setTimeout(function expire() {
      reject(new Error(`the store of the idempotency keys did not answer within ${milliseconds} ms`))
      giveUp()
    }, milliseconds)
  })
  try {
    return await Promise.race([call, timeout])
  } finally {
    clearTimeout(timer)
  }
}

async function releaseLate(outcome: ClaimOutcome): Promise<void> {
  if (outcome.state === 'claimed') await outcome.claim.release()
}

function unavailable(request: FastifyRequest, error: unknown): never {
  logFailure(request, error)
  throw overloaded('the idempotency keys are temporarily unavailable')
}

const warn = ({ log, raw, id }: FastifyRequest, problem: string): void =>
  log.warn({ request_id: id, method: raw.method }, problem)

const ignore = () => {}

const keyError = (kind: keyof typeof keyErrors, message: string, headers: Record<string, string> = {}) =>
  new ContractError(kind, message, headers, Math.trunc(keyErrors[kind].error / 100))

const requestInProgress = () =>
  keyError('requestInProgress', 'a request with this Idempotency-Key is in progress; retry later', {
    'retry-after': '1',
  })

const keyReused = () => keyError('keyReused', 'this Idempotency-Key belongs to a request with other content')
