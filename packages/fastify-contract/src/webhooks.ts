export { type CallbackContext, callbackUrl, runtimeValue } from './contract/runtime-expression.ts'
export { newWebhookKeys, newWebhookSecret, type WebhookSecrets } from './webhooks/webhook-keys.ts'
export type { Delivery, RetryOptions } from './webhooks/webhook-retries.ts'
export { webhookSignature, webhookSignatureFor } from './webhooks/webhook-scheme.ts'
export {
  type SenderOptions,
  type SentRequest,
  WebhookError,
  type WebhookSender,
  type WebhookTable,
  webhookSender,
} from './webhooks/webhook-sender.ts'
export {
  type VerifiedWebhook,
  type VerifyWebhook,
  type WebhookHeaders,
  type WebhookRejection,
  WebhookVerificationError,
  type WebhookVerifierOptions,
  webhookVerifier,
} from './webhooks/webhook-signature.ts'
