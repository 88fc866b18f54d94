import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import type { Client } from '../http/request-context.ts'
import type { VerifyToken } from './tokens.ts'
import { credentialVerifier, maxCredentialsLength, type VerifierFactory } from './verifiers.ts'

type Credentials = { user: string; password: string }

/**
 * Returns the client of a user name and a password, or undefined when they are not valid. Both are in Unicode
 * Normalization Form C. A verifier must call `withinFailureLimit` before work that takes more than a look-up, such as a
 * slow password hash.
 */
export type VerifyPassword = (
  credentials: Credentials,
  withinFailureLimit: () => boolean,
) => Client | undefined | Promise<Client | undefined>

/** RFC 7617 section 2: the scheme in any case, then base64 with padding. */
const basicHeader = /^basic +([A-Za-z\d+/]*={0,2})$/i

/** RFC 7617 section 2 forbids control characters in both. The user name ends at the first colon. */
const userPass = /^([^\p{Cc}:]*):(\P{Cc}*)$/u

/** Verifies HTTP Basic credentials by `verify`. An Authorization header above 4,096 characters is not valid. */
export const basic = (verify: VerifyPassword): VerifierFactory =>
  credentialVerifier({
    // RFC 7617 section 2.1: user names and passwords are in UTF-8.
    challenge: ['Basic', 'charset="UTF-8"'],
    missing: 'a user name and a password are required',
    invalid: 'the user name or the password is not valid',
    read: readBasic,
    takesPassword: true,
    verify,
  })

/** Returns a password verifier that accepts the name of a client with one of its tokens as the password. */
export function tokensAsPasswords(verify: VerifyToken): VerifyPassword {
  return function verifyPassword({ user, password }, withinFailureLimit) {
    const named = (client: Client | undefined) => (client?.name === user ? client : undefined)
    const found = verify(password, withinFailureLimit)
    return found instanceof Promise ? found.then(named) : named(found)
  }
}

function readBasic({ headers: { authorization = '' } }: FastifyRequest): Credentials | undefined | null {
  if (!/^basic +[^ ]/i.test(authorization)) return undefined
  const [, text = ''] = authorization.length > maxCredentialsLength ? [] : (basicHeader.exec(authorization) ?? [])
  const bytes = Buffer.from(text, 'base64')
  // Buffer also decodes text that is not base64.
  if (bytes.toString('base64') !== text || !isUtf8(bytes)) return null
  const [, user, password] = userPass.exec(bytes.toString().normalize('NFC')) ?? []
  return user === undefined || password === undefined ? null : { user, password }
}
