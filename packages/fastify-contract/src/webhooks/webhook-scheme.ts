import type { FastifyRequest } from 'fastify'
import { challengeOf, unauthenticated, type Verified, type VerifierFactory } from '../auth/verifiers.ts'
import { checkBeforeParsing } from '../http/read-body.ts'
import { signatureHeaders, type VerifyWebhook, WebhookVerificationError } from './webhook-signature.ts'

/**
 * Verifies the webhooks of a security scheme by `verify`, by their headers and by the bytes of the body before these are
 * parsed. The scheme identifies no client: one that only has the headers must not use up the rate limit of the sender.
 * The challenge's scheme is not registered, but RFC 9110 section 15.5.2 requires a challenge in every 401.
 */
export function webhookSignature(verify: VerifyWebhook): VerifierFactory {
  return function verifierOf({ realm }) {
    const challenge = challengeOf('StandardWebhooks', realm)
    function verifySignature({ headers, raw }: FastifyRequest, done: Verified): void {
      if (!signatureHeaders.some((name) => name in headers)) {
        done(unauthenticated('missingToken', 'the headers of a signed webhook are missing', challenge))
        return
      }
      checkBeforeParsing(raw, function checkSignature(bytes) {
        try {
          verify(headers, bytes)
        } catch (error) {
          if (!(error instanceof WebhookVerificationError)) throw error
          throw unauthenticated('invalidToken', error.message, challenge)
        }
      })
      done()
    }
    return Object.assign(verifySignature, { verifiesBody: true as const })
  }
}
