import type { FastifyRequest } from 'fastify'
import { challengeOf, unauthenticated, type Verified, type VerifierFactory } from '../auth/verifiers.ts'
import { checkBeforeParsing } from '../http/read-body.ts'
import { signatureHeaders, WebhookVerificationError } from './webhook-signature.ts'

/**
 * Verifies the webhooks of a security scheme by `verify`, by their headers and by the bytes of the body before these are
 * parsed. `verify` throws a WebhookVerificationError to reject a webhook. A request without any of the headers `names` is
 * not signed. The scheme identifies no client: one that only has the headers must not use up the rate limit of the
 * sender. The challenge's scheme is not registered, but RFC 9110 section 15.5.2 requires a challenge in every 401.
 */
export function webhookSignature(
  verify: (headers: FastifyRequest['headers'], body: Buffer) => unknown,
  names: readonly string[] = signatureHeaders,
): VerifierFactory {
  return function verifierOf({ realm, withinFailureLimit, countFailure }) {
    const challenge = challengeOf('StandardWebhooks', realm)
    const invalid = (message: string) => unauthenticated('invalidToken', message, challenge)
    function verifySignature(request: FastifyRequest, done: Verified): void {
      const { headers, raw } = request
      if (!names.some((name) => name.toLowerCase() in headers)) {
        done(unauthenticated('missingToken', 'the headers of a signed webhook are missing', challenge))
        return
      }
      // A public key needs about a millisecond for each signature of a large body.
      if (!withinFailureLimit(request)) {
        done(invalid('too many webhooks were rejected'))
        return
      }
      checkBeforeParsing(raw, function checkSignature(bytes) {
        try {
          verify(headers, bytes)
        } catch (error) {
          if (!(error instanceof WebhookVerificationError)) throw error
          throw countFailure(request) ?? invalid(error.message)
        }
      })
      done()
    }
    return Object.assign(verifySignature, { verifiesBody: true as const })
  }
}
