import type { FastifyInstance } from 'fastify'
import type { Verifier } from '../serve/security.ts'
import { alwaysAllowed, type MayCost } from './auth-limits.ts'
import { bearerVerifier } from './bearer.ts'
import { isIssuer } from './issuer.ts'

/** The path of the metadata after the URL of the issuer (OpenID Connect Discovery 1.0 section 4). */
const wellKnown = '/.well-known/openid-configuration'

type OpenIdConnect = {
  /** The `openIdConnectUrl` of the scheme. */
  url: string
  /** The required audience: the `aud` claim of the tokens. */
  audience: string
  /** The `iss` claim of the tokens; default: the URL without the well-known path. */
  issuer?: string
}

/**
 * Creates the verifier of an openIdConnect scheme. It accepts the provider's JWT access tokens (RFC 9068), but no ID
 * tokens. It fetches the provider's keys for the first token. Rejects when the URL is not the metadata URL of the
 * issuer.
 */
export async function openIdConnectVerifier(
  app: FastifyInstance,
  { url, audience, issuer = url.replace(wellKnown, '') }: OpenIdConnect,
  mayCost: MayCost = alwaysAllowed,
): Promise<Verifier> {
  if (!isIssuer(issuer) || issuer.replace(/\/$/, '') + wellKnown !== url) {
    throw new Error(
      `openIdConnectUrl ${JSON.stringify(url)} must be the https URL of the issuer followed by ${wellKnown}`,
    )
  }
  const { jwtVerifier } = await import('./jwt.ts')
  return await bearerVerifier(app, jwtVerifier({ issuer, audience, jwksUrl: undefined }), mayCost)
}
