import type { FastifyInstance } from 'fastify'
import type { Verifier } from '../openapi/security.ts'
import { always, type MayCost } from './auth-limits.ts'
import { bearerVerifier } from './bearer.ts'
import { isIssuer } from './issuer.ts'

/** Where OpenID Connect Discovery 1.0 section 4 has the metadata, behind the issuer's URL. */
const wellKnown = '/.well-known/openid-configuration'

type OpenIdConnect = {
  /** The `openIdConnectUrl` of the scheme. */
  url: string
  /** Whom the tokens are for: the `aud` claim. */
  audience: string
  /** The issuer as its tokens name it; default: the URL without the well-known path. */
  issuer?: string
}

/**
 * Creates the verifier of an openIdConnect scheme: it accepts the access tokens of its provider, JSON Web Tokens of RFC
 * 9068, and no ID tokens. The provider is asked for its keys with the first token. Rejects for a URL that is not the
 * place of the metadata of a provider.
 */
export async function openIdConnectVerifier(
  app: FastifyInstance,
  { url, audience, issuer = url.replace(wellKnown, '') }: OpenIdConnect,
  mayCost: MayCost = always,
): Promise<Verifier> {
  if (!isIssuer(issuer) || issuer.replace(/\/$/, '') + wellKnown !== url) {
    throw new Error(`openIdConnectUrl ${JSON.stringify(url)} must be the https URL of the issuer and ${wellKnown}`)
  }
  const { jwtVerifier } = await import('./jwt.ts')
  return await bearerVerifier(app, jwtVerifier({ issuer, audience, jwksUrl: undefined }), mayCost)
}
