import { clientMethods } from '../client/exact-client.ts'
import type { CallOptions, CallOutcome, OperationAt, PathOf } from '../client/operation-types.ts'
import { callRequest, type ParameterStyle, pairWriter, queryOf, sentBody } from '../client/request-serialization.ts'
import type { Imported } from '../contract/generated-types.ts'
import { essenceOf, isInRange, isRange, kindOf, requestKindOf } from '../contract/media-types.ts'
import type { Content } from '../contract/routes.ts'
import { type CallbackContext, callbackUrl, httpUrl } from '../contract/runtime-expression.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { readWebStream } from '../http/read-web-stream.ts'
import { parseJson } from '../json/parse-json.ts'
import { responseKey } from '../response/send-response.ts'
import { createSerializer } from '../schema/interpreted-serializer.ts'
import { createValidator, type Validator, valueOrThrow } from '../schema/validator.ts'
import { type Sign, signersOf, type WebhookSecrets } from './webhook-keys.ts'
import { attemptRepeatedly, type Delivery, type RetryOptions, retrySchedule } from './webhook-retries.ts'
import { assertWebhookId, newWebhookId, setSignature, signatureHeaders } from './webhook-signature.ts'

/** A request that the document describes as a webhook, or in a callback. */
export type SentRequest = {
  /** The name of the webhook, or the operationId and the name of the callback. */
  name: string
  method: string
  querystring?: Schema
  headers?: Schema
  body?: { isRequired: boolean; content: Content }
  /** The styles of parameters and form fields that differ from the default, by location and by name. */
  styles?: Record<string, Record<string, ParameterStyle>>
  /** By status, range (4XX) or default. */
  responses: Record<string, { content?: Content }>
}

/** The content of `generated/webhooks.json`, which exists if the document has webhooks or callbacks. */
export type WebhookTable = {
  requests: SentRequest[]
  /** The runtime expressions of the URLs of callbacks, by the name of the request. */
  callbacks: Record<string, string>
  schemas: Record<string, Schema>
}

export type SenderOptions = {
  /** Milliseconds until the whole response to an attempt must have arrived; default 15,000. */
  timeout?: number
  /** The maximum number of bytes of a body that is signed or may be sent again; default 1,048,576. */
  maxBody?: number
  /** The maximum number of bytes of a response body; default 65,536. */
  maxResponse?: number
  /** The function that sends a request; default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /**
   * The secrets (`whsec_`) and secret keys (`whsk_`) that sign each request, at most 10. Without them, requests are not
   * signed.
   */
  secrets?: WebhookSecrets
  /** When a request is sent again; default: never. */
  retry?: RetryOptions
}

/** The options of one request beside those of its operation. */
type SendOptions = Pick<SenderOptions, 'secrets' | 'retry'> & {
  url: string | URL
  /** The `webhook-id`, by which the receiver recognizes a repeated request; default: a new one. */
  id?: string
}

/** An operation without the header parameters that the sender sets. */
type WithoutSignature<Operation> = Operation extends { parameters: { header: infer Header } }
  ? Omit<Operation, 'parameters'> & {
      parameters: Omit<Operation['parameters'], 'header'> & HeaderOption<OwnHeaders<Header>>
    }
  : Operation

type OwnHeaders<Header> = {
  [Name in keyof Header as Lowercase<Name & string> extends (typeof signatureHeaders)[number]
    ? never
    : Name]: Header[Name]
}

type HeaderOption<Header> = object extends Header ? { header?: Header } : { header: Header }

type Method = (typeof clientMethods)[number]

/**
 * One function for each method, and `callbackUrl`. The arguments of a function are the name of a webhook or callback,
 * and the `url`, `params`, `body`, `contentType`, `id`, `secrets` and `retry` of the request. It resolves with
 * `{ status, data, response, delivery }`, or with `error` in place of `data` when the status is not 2xx. It rejects with
 * a WebhookError when the receiver does not respond as the document says, and with a TypeError when the request does not
 * match the document.
 */
export type WebhookSender<Webhooks extends object> = {
  [Name in Method]: <Key extends PathOf<Webhooks, Lowercase<Name>>>(
    name: Key,
    options: CallOptions<WithoutSignature<OperationAt<Webhooks, Key, Lowercase<Name>>>> & SendOptions,
  ) => Promise<CallOutcome<OperationAt<Webhooks, Key, Lowercase<Name>>, Lowercase<Name>> & { delivery: Delivery }>
} & {
  /**
   * Returns the URL of a callback, computed from the messages of its operation. Throws a TypeError if they do not have
   * it, or if it is no http or https URL.
   */
  callbackUrl(name: keyof Webhooks & string, context: CallbackContext): string
}

/** Why a receiver's response cannot be used. */
type Failure = 'timeout' | 'unreachable' | 'responseTooLarge' | 'unexpectedStatus' | 'invalidResponse'

/** The error of a request that may have been received, but was not answered as the document says. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly kind: Failure
  /** The status of the last response; undefined if none arrived. */
  readonly status: number | undefined
  /** Set in every error with which a sender rejects. */
  delivery: Delivery | undefined

  constructor(kind: Failure, message: string, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.kind = kind
    this.status = status
  }
}

/**
 * Creates the sender of the webhooks and callbacks of a document, whose types are `Webhooks`. It validates each request
 * before it sends it, and each response. It signs requests by Standard Webhooks 1.0, and sends each attempt with the same
 * id and the same bytes. It follows no redirect. Throws a TypeError for an invalid secret or retry option.
 */
export function webhookSender<Webhooks extends object>(
  table: Imported<WebhookTable>,
  options: SenderOptions = {},
): WebhookSender<Webhooks> {
  const { requests, callbacks, schemas } = table as WebhookTable
  const validator = createValidator(schemas)
  const senders = new Map<string, ReturnType<typeof requestSender>>()
  const defaults = deliveryOf(options, { signers: [], schedule: retrySchedule({ attempts: 1 }) })
  for (const request of requests)
    senders.set(`${request.method} ${request.name}`, requestSender(request, validator, schemas, options, defaults))
  async function call(method: Method, name: string, given: Given) {
    const send = senders.get(`${method} ${name}`)
    if (send === undefined) throw new TypeError(`the document has no webhook or callback ${method} ${name}`)
    return await send(given)
  }
  return {
    ...Object.fromEntries(clientMethods.map((method) => [method, call.bind(undefined, method)])),
    callbackUrl(name: string, context: CallbackContext) {
      const expression = Object.hasOwn(callbacks, name) ? callbacks[name] : undefined
      if (expression === undefined) throw new TypeError(`the document has no callback ${name}`)
      return callbackUrl(expression)(context)
    },
  } as unknown as WebhookSender<Webhooks>
}

type Given = Omit<RequestInit, 'body'> &
  SendOptions & {
    params?: { query?: Record<string, unknown>; header?: Record<string, unknown> }
    body?: unknown
    contentType?: string
    fetch?: NonNullable<SenderOptions['fetch']>
  }

/** How requests are signed and repeated. */
type DeliveryOptions = { signers: Sign[]; schedule: ReturnType<typeof retrySchedule> }

/** Parses the options. Secrets that are given as undefined, as by a variable without a value, are not valid. */
const deliveryOf = (given: Pick<SenderOptions, 'secrets' | 'retry'>, defaults: DeliveryOptions): DeliveryOptions => ({
  signers: 'secrets' in given ? signersOf(given.secrets as WebhookSecrets) : defaults.signers,
  schedule: given.retry === undefined ? defaults.schedule : retrySchedule(given.retry),
})

/** A request that is sent once or several times; `bytes` is its body, if it was read. */
type Message = { request: Request; id: string; signers: Sign[]; bytes?: Buffer }

const noBytes = new Uint8Array()

/** Returns the request of one attempt, with the time of this attempt. */
function requestOf({ request, id, signers, bytes }: Message, signal: AbortSignal): Request {
  const headers = new Headers(request.headers)
  setSignature(headers, id, bytes ?? noBytes, signers)
  return new Request(request, { headers, signal, ...(bytes !== undefined && { body: bytes }) })
}

type ObjectSchema = { properties?: Record<string, Schema>; required?: string[] }

/** Returns the schema of header parameters without those that the sender sets. */
function withoutSignature(schema: Schema): Schema {
  const { properties = {}, required = [], ...others } = schema as ObjectSchema
  const isOwn = (name: string) => !(signatureHeaders as readonly string[]).includes(name.toLowerCase())
  const own = Object.entries(properties).filter(([name]) => isOwn(name))
  return { ...others, properties: Object.fromEntries(own), required: required.filter(isOwn) }
}

/** A response of the receiver as the document describes it, or why there is none. */
type Attempt = { status: number | undefined; headers: Headers | undefined } & (
  | { outcome: object }
  | { error: WebhookError }
)

function requestSender(
  sent: SentRequest,
  validator: Validator,
  schemas: WebhookTable['schemas'],
  { timeout = 15_000, maxBody = 1_048_576, maxResponse = 65_536, fetch: sendDefault = globalThis.fetch }: SenderOptions,
  defaults: DeliveryOptions,
) {
  const { name, method, querystring, headers, styles = {} } = sent
  function assertValid(schema: Schema | undefined, part: string) {
    const problemOf = schema === undefined ? undefined : validator.problem(schema, part)
    return function assert(value: unknown): void {
      const problem = problemOf?.(value)
      if (problem !== undefined) throw new TypeError(`${method} ${name}: ${problem}`)
    }
  }
  const assertQuery = assertValid(querystring, 'query')
  const assertHeader = assertValid(headers && withoutSignature(headers), 'header')
  const bodyOf = bodyWriter(sent, assertValid, schemas)
  const read = responseReader(sent, validator)

  async function attempt(message: Message, fetch: typeof sendDefault, signal: Given['signal']): Promise<Attempt> {
    const expiry = AbortSignal.timeout(timeout)
    const request = requestOf(message, eitherOf(signal, expiry))
    let response: Response | undefined
    try {
      response = await fetch(request)
      const { status, ok, headers } = response
      function tooLarge() {
        return new WebhookError('responseTooLarge', `the response has more than ${maxResponse} bytes`, { status })
      }
      const value = read(response, await readWebStream(response.body, maxResponse, tooLarge))
      return { status, headers, outcome: ok ? { status, data: value, response } : { status, error: value, response } }
    } catch (thrown) {
      if (signal?.aborted) throw thrown
      const error = thrown instanceof WebhookError ? thrown : unanswered(request, thrown, expiry.aborted)
      return { status: error.status, headers: response?.headers, error }
    }
  }

  /** Reads a body that may be a stream of the caller, which may be endless. */
  async function bodyBytes(body: ReadableStream, signal: Given['signal']): Promise<Buffer> {
    const expiry = AbortSignal.timeout(timeout)
    const unusable = (problem: string) => new TypeError(`${method} ${name}: the body has ${problem}`)
    const whole = body.pipeThrough(new TransformStream(), { signal: eitherOf(signal, expiry) })
    try {
      return await readWebStream(whole, maxBody, () => unusable(`more than ${maxBody} bytes`))
    } catch (error) {
      throw error === expiry.reason ? unusable(`no end after ${timeout} ms`) : error
    }
  }

  function unanswered({ url }: Request, cause: unknown, isLate: boolean): WebhookError {
    if (isLate) return new WebhookError('timeout', `no response after ${timeout} ms`, { cause })
    return new WebhookError('unreachable', `no response from ${new URL(url).host}`, { cause })
  }

  return async function send(given: Given) {
    const { url, params = {}, body, contentType, fetch = sendDefault, signal, id = newWebhookId(), ...init } = given
    assertWebhookId(id)
    const { signers, schedule } = deliveryOf(given, defaults)
    assertQuery(params.query ?? {})
    assertHeader(params.header ?? {})
    const pairs = pairWriter(name, params, { [name]: styles })
    const target = httpUrl(url)
    const query = queryOf(pairs('query'))
    if (query !== '') target.search += `${target.search === '' ? '?' : '&'}${query}`
    // A redirect could lead to an address that the caller did not check.
    const all = { ...init, method, redirect: 'manual' as const }
    const request = callRequest(target, all, pairs('header'), bodyOf(body, contentType))
    // A stream can be read once, and each serialization of a multipart form has another boundary.
    const isRead = request.body !== null && (signers.length > 0 || schedule.attempts > 1)
    const message = { request, id, signers, ...(isRead && { bytes: await bodyBytes(request.body, signal) }) }
    const { last, ...state } = await attemptRepeatedly(() => attempt(message, fetch, signal), schedule, signal)
    const delivery = { id, ...state }
    if ('error' in last) throw Object.assign(last.error, { delivery })
    return { ...last.outcome, delivery }
  }
}

type AssertValid = (schema: Schema | undefined, part: string) => (value: unknown) => void

/** Returns a function that validates and serializes a body. */
function bodyWriter(
  { method, name, body, styles }: SentRequest,
  assertValid: AssertValid,
  schemas: WebhookTable['schemas'],
) {
  const writers = new Map<string, (value: unknown, contentType: string) => ReturnType<typeof sentBody>>()
  for (const [mediaType, { schema }] of Object.entries(body?.content ?? {})) {
    const kind = requestKindOf(mediaType)
    // The parts of a multipart form are files and texts, which its schema describes only in their serialized form.
    const assert = assertValid(kind === 'multipart' ? undefined : schema, 'body')
    const serialize = kind === 'json' ? createSerializer(schemas, schema) : undefined
    writers.set(mediaType, function write(value, contentType) {
      assert(value)
      return serialize === undefined ? sentBody(value, contentType, styles) : { body: serialize(value), contentType }
    })
  }
  const [range] = [...writers.keys()].filter(isRange)
  return function writeBody(value: unknown, contentType = 'application/json') {
    if (value === undefined && !body?.isRequired) return sentBody(undefined)
    const write =
      writers.get(contentType) ??
      (range !== undefined && isInRange(range, contentType) ? writers.get(range) : undefined)
    if (value === undefined || write === undefined) {
      const expected = [...writers.keys()].join(' or ')
      throw new TypeError(`${method} ${name}: ${expected === '' ? 'has no body' : `needs a body of ${expected}`}`)
    }
    return write(value, contentType)
  }
}

const eitherOf = (given: AbortSignal | null | undefined, expiry: AbortSignal): AbortSignal =>
  AbortSignal.any(given ? [given, expiry] : [expiry])

/** Returns a function that parses and validates the body of a response. It throws a WebhookError. */
function responseReader({ responses }: SentRequest, validator: Validator) {
  type Reader = { mediaType: string; validate: ReturnType<Validator['request']> | undefined }
  const readers = new Map<string, Reader[]>()
  for (const [key, { content = {} }] of Object.entries(responses)) {
    const ofKey: Reader[] = []
    for (const [mediaType, { schema }] of Object.entries(content)) {
      const validate = kindOf(mediaType) === 'json' ? validator.request(schema, 'response') : undefined
      ofKey.push({ mediaType, validate })
    }
    readers.set(key, ofKey)
  }
  return function read({ status, headers }: Response, bytes: Buffer): unknown {
    const readersOfStatus = readers.get(responseKey(responses, status) ?? '')
    if (readersOfStatus === undefined) {
      throw new WebhookError('unexpectedStatus', `the document has no response ${status}`, { status })
    }
    if (readersOfStatus.length === 0) return undefined
    const type = headers.get('content-type') ?? ''
    const reader = readersOfStatus.find(
      ({ mediaType }) => essenceOf(mediaType) === essenceOf(type) || (isRange(mediaType) && isInRange(mediaType, type)),
    )
    const invalid = (problem: string, cause?: unknown) =>
      new WebhookError('invalidResponse', `response ${status}: ${problem}`, { status, cause })
    if (reader === undefined) {
      const expected = readersOfStatus.map(({ mediaType }) => mediaType).join(' or ')
      throw invalid(`its media type is ${type === '' ? 'missing' : type}, not ${expected}`)
    }
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      return reader.validate === undefined ? text : valueOrThrow(reader.validate(parseJson(text)))
    } catch (error) {
      throw invalid((error as Error).message, error)
    }
  }
}
