import type { FastifyRequest } from 'fastify'
import { challengeOf, unauthenticated, type Verified, type VerifierFactory, whilePaused } from '../auth/verifiers.ts'
import { errorOf } from '../contract/errors.ts'
import { checkBeforeParsing } from '../http/read-body.ts'
import { signatureHeaders, WebhookVerificationError } from './webhook-signature.ts'

/** Throws a WebhookVerificationError to reject a webhook. `body` are the bytes as they were sent. */
type Verify = (headers: FastifyRequest['headers'], body: Buffer) => unknown

/**
 * Verifies the webhooks of a security scheme by `verify`, before their bodies are parsed. A request without any of the
 * headers `names` is not signed. The scheme identifies no client: one that only has the headers must not use up the rate
 * limit of the sender.
 */
export const webhookSignature = (verify: Verify, names?: readonly string[]): VerifierFactory =>
  webhookSignatureFor(() => verify, names)

/**
 * Verifies webhooks as `webhookSignature` does, but with a function for each request, such as one with the secrets of a
 * tenant. `verifyFor` is called before the body is read. It returns undefined for an unknown sender. The challenge's
 * scheme is not registered, but RFC 9110 section 15.5.2 requires a challenge in every 401.
 */
export function webhookSignatureFor(
  verifyFor: (request: FastifyRequest) => Verify | undefined | Promise<Verify | undefined>,
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
      const fail = (thrown: unknown) => done(errorOf(thrown))
      let found: ReturnType<typeof verifyFor>
      try {
        found = verifyFor(request)
      } catch (error) {
        fail(error)
        return
      }
      if (found instanceof Promise) whilePaused(request, found).then(checkBody, fail)
      else checkBody(found)

      function checkBody(verify: Verify | undefined): void {
        if (verify !== undefined) checkBeforeParsing(raw, (bytes) => checkSignature(verify, bytes))
        done(verify === undefined ? invalid('the sender of the webhook is unknown') : undefined)
      }

      function checkSignature(verify: Verify, bytes: Buffer): void {
        try {
          verify(headers, bytes)
        } catch (error) {
          if (!(error instanceof WebhookVerificationError)) throw error
          throw countFailure(request) ?? invalid(error.message)
        }
      }
    }
    return Object.assign(verifySignature, { verifiesBody: true as const })
  }
}
