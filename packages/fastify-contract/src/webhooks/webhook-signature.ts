import { randomUUID } from 'node:crypto'
import { maxSignatures, type Sign, signatureChecksOf, type WebhookSecrets } from './webhook-keys.ts'

/** The headers of a signed webhook (Standard Webhooks 1.0, "Webhook headers"). */
export const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** The id is part of the signed content, in which dots separate it from the timestamp and the body. */
const validId = /^[!-\-/-~]{1,256}$/

const idRule = 'an id has 1 to 256 visible ASCII characters other than a dot'

/** Returns a new id of a webhook. */
export const newWebhookId = (): string => `msg_${randomUUID()}`

/** Throws a TypeError for an id that a webhook cannot have. */
export function assertWebhookId(id: string): void {
  if (!validId.test(id)) throw new TypeError(`${JSON.stringify(id)} is not the id of a webhook; ${idRule}`)
}

const contentOf = (id: string, timestamp: string, body: Uint8Array) => [Buffer.from(`${id}.${timestamp}.`), body]

/** Sets the headers of an attempt to send a webhook now. Without a function that signs, there is no signature. */
export function setSignature(headers: Headers, id: string, body: Uint8Array, signers: readonly Sign[]): void {
  const timestamp = String(Math.floor(Date.now() / 1000))
  headers.set('webhook-id', id)
  headers.set('webhook-timestamp', timestamp)
  const content = contentOf(id, timestamp, body)
  if (signers.length > 0) headers.set('webhook-signature', signers.map((sign) => sign(content)).join(' '))
}

/** Why a webhook is rejected. */
export type WebhookRejection = 'missingHeader' | 'invalidHeader' | 'tooOld' | 'tooNew' | 'wrongSignature'

/** The error of a webhook that is not verified. Its message is for the sender, and contains nothing of the webhook. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookRejection

  constructor(reason: WebhookRejection, message: string) {
    super(message)
    this.reason = reason
  }
}

export type WebhookVerifierOptions = {
  /** Milliseconds by which the time of an attempt may differ from the own clock, in both directions; default 300,000. */
  tolerance?: number
  /** Returns the time in milliseconds since 1970; default `Date.now`. */
  now?: () => number
}

/** The headers of a request: those of Node.js, Fastify or fetch. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

/** A verified webhook. Retries have the same `id`; `timestamp` is the time of the attempt. */
export type VerifiedWebhook = { id: string; timestamp: Date }

/**
 * Verifies a webhook by its headers and the bytes of its body as they were sent. Throws a WebhookVerificationError for a
 * webhook that is not verified.
 */
export type VerifyWebhook = (headers: WebhookHeaders, body: string | Uint8Array) => VerifiedWebhook

/**
 * Returns a function that verifies webhooks of Standard Webhooks 1.0 by `whsec_` secrets (`v1`) and `whpk_` public keys
 * (`v1a`). One matching signature is sufficient, of at most 10. Throws a TypeError for an invalid secret or tolerance.
 */
export function webhookVerifier(
  secrets: WebhookSecrets,
  { tolerance = 300_000, now = Date.now }: WebhookVerifierOptions = {},
): VerifyWebhook {
  const checks = signatureChecksOf(secrets)
  // NaN would accept any time.
  if (!(tolerance >= 0)) throw new TypeError(`tolerance: ${tolerance} is not a number of milliseconds`)
  return function verifyWebhook(headers, body) {
    const [id, timestamp, signature] = signatureHeaders.map((name) => headerOf(headers, name)) as [
      string,
      string,
      string,
    ]
    if (!validId.test(id)) throw invalidHeader(`webhook-id is not valid: ${idRule}`)
    if (!/^(?:0|[1-9]\d{0,11})$/.test(timestamp)) throw invalidHeader('webhook-timestamp is not a number of seconds')
    const time = Number(timestamp) * 1000
    assertRecent(now() - time, tolerance)
    // Splits no further than needed to see that there are too many.
    const signatures = signature.split(' ', maxSignatures + 1)
    if (signatures.length > maxSignatures) {
      throw invalidHeader(`webhook-signature has more than ${maxSignatures} signatures`)
    }
    const content = contentOf(id, timestamp, typeof body === 'string' ? Buffer.from(body) : body)
    if (!checks.some((hasSignature) => hasSignature(signatures, content))) {
      throw new WebhookVerificationError('wrongSignature', 'webhook-signature has no signature of this webhook')
    }
    return { id, timestamp: new Date(time) }
  }
}

const invalidHeader = (message: string) => new WebhookVerificationError('invalidHeader', message)

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (!value) throw new WebhookVerificationError('missingHeader', `the header ${name} is missing`)
  return String(value)
}

function assertRecent(age: number, tolerance: number): void {
  if (age > tolerance) throw new WebhookVerificationError('tooOld', 'webhook-timestamp is too old')
  if (-age > tolerance) throw new WebhookVerificationError('tooNew', 'webhook-timestamp is in the future')
}
