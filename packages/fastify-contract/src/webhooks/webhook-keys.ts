import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'

/*
 * Secrets and keys as texts, and their signatures (Standard Webhooks 1.0, "Signature scheme"). No message contains a
 * secret.
 */

/** One or several secrets or keys. A receiver has several while they are rotated. */
export type WebhookSecrets = string | readonly string[]

/**
 * The maximum number of secrets of a receiver, and of signatures of a webhook. A public key checks each signature with a
 * computation of its own, so their product bounds the work for a request.
 */
export const maxSignatures = 10

/** The bytes that are signed, in parts. */
type Content = readonly Uint8Array[]

/** Returns a signature with its identifier, such as `v1,BASE64`. */
export type Sign = (content: Content) => string

/** Returns whether one of the signatures of a webhook is that of its content. */
export type HasSignature = (signatures: readonly string[], content: Content) => boolean

/** Returns a new secret of 32 random bytes for symmetric signatures. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Returns a new pair of Ed25519 keys: the sender signs with the secret key, and receivers get the public key. */
export function newWebhookKeys(): { secretKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  const point = rawPublicKey(publicKey)
  return {
    secretKey: `whsk_${Buffer.concat([seed, point]).toString('base64')}`,
    publicKey: `whpk_${point.toString('base64')}`,
  }
}

/** Returns the functions that sign with `whsec_` secrets and `whsk_` keys. Throws a TypeError for an invalid one. */
export const signersOf = (secrets: WebhookSecrets): Sign[] =>
  keysOf(secrets, ['whsec_', 'whsk_'], function signerOf({ form, bytes }) {
    if (form === 'whsec_') return (content) => hmacSignature(bytes, content)
    const key = privateKeyOf(bytes)
    return key && ((content) => `v1a,${sign(null, Buffer.concat(content), key).toString('base64')}`)
  })

/** Returns the functions that verify with `whsec_` secrets and `whpk_` keys. Throws a TypeError for an invalid one. */
export const signatureChecksOf = (secrets: WebhookSecrets): HasSignature[] =>
  keysOf(secrets, ['whsec_', 'whpk_'], function signatureCheckOf({ form, bytes }) {
    if (form === 'whsec_') return hmacCheck(bytes)
    const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') } })
    return (signatures, content) => hasEd25519Signature(key, signatures, content)
  })

/** The forms of secrets and keys: what each one is, and its number of bytes. */
const forms = {
  whsec_: { min: 24, max: 64, meaning: 'whsec_ and the base64 of 24 to 64 random bytes' },
  whsk_: { min: 64, max: 64, meaning: 'whsk_ and the base64 of an Ed25519 key pair' },
  whpk_: { min: 32, max: 32, meaning: 'whpk_ and the base64 of an Ed25519 public key' },
}

type Form = keyof typeof forms

type Key = { form: Form; bytes: Buffer }

/** Parses secrets or keys of the allowed forms. `use` returns undefined for an invalid key. */
function keysOf<Use>(secrets: WebhookSecrets, allowed: Form[], use: (key: Key) => Use | undefined): Use[] {
  const texts = [secrets].flat()
  if (texts.length === 0 || texts.length > maxSignatures) {
    throw new TypeError(`${texts.length} webhook secrets are given; use 1 to ${maxSignatures}`)
  }
  const uses: Use[] = []
  for (const [index, text] of texts.entries()) {
    const key = parseKey(String(text), allowed)
    const used = key && use(key)
    if (used === undefined) {
      const meanings = allowed.map((form) => forms[form].meaning).join(', or ')
      throw new TypeError(`webhook secret ${index + 1} of ${texts.length} is not valid; use ${meanings}`)
    }
    uses.push(used)
  }
  return uses
}

function parseKey(text: string, allowed: Form[]): Key | undefined {
  const form = allowed.find((prefix) => text.startsWith(prefix))
  if (form === undefined) return undefined
  const encoded = text.slice(form.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer also decodes text that is not base64.
  const isValid = bytes.toString('base64') === encoded && bytes.length >= forms[form].min
  return isValid && bytes.length <= forms[form].max ? { form, bytes } : undefined
}

function hmacSignature(secret: Buffer, content: Content): string {
  const hmac = createHmac('sha256', secret)
  for (const part of content) hmac.update(part)
  return `v1,${hmac.digest('base64')}`
}

function hmacCheck(secret: Buffer): HasSignature {
  return function hasHmacSignature(signatures, content) {
    const expected = Buffer.from(hmacSignature(secret, content))
    return signatures.some((signature) => {
      const given = Buffer.from(signature)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  }
}

function hasEd25519Signature(key: KeyObject, signatures: readonly string[], content: Content): boolean {
  const bytes = Buffer.concat(content)
  return signatures.some((signature) => {
    if (!signature.startsWith('v1a,')) return false
    return verify(null, bytes, key, Buffer.from(signature.slice('v1a,'.length), 'base64'))
  })
}

/** RFC 8410 section 7: the PKCS #8 structure in front of the 32 bytes of an Ed25519 private key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the private key of a private key with its public key behind it; undefined if the two do not match. */
function privateKeyOf(bytes: Buffer): KeyObject | undefined {
  const der = Buffer.concat([pkcs8Prefix, bytes.subarray(0, 32)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return rawPublicKey(createPublicKey(key)).equals(bytes.subarray(32)) ? key : undefined
}

const rawPublicKey = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(-32)
