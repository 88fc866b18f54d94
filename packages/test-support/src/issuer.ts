import { constants, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export const audience = 'https://plants.example'

/** Starts an authorization server on a loopback port; `asked` lists the paths that were requested. */
export async function startIssuer(t: Test) {
  const asked: string[] = []
  const pages = new Map<string, RequestListener>()
  let down = false
  const server = createServer((request, response) => {
    const path = request.url as string
    asked.push(path)
    if (down) request.destroy()
    else if (pages.has(path)) pages.get(path)?.(request, response)
    else response.writeHead(404).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    jwksUrl: `${url}/keys`,
    /** Responds at a path with JSON, with a text as it is, or with the listener. */
    serve(path: string, content: object | string | RequestListener) {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      pages.set(
        path,
        typeof content === 'function' ? (content as RequestListener) : (_, response) => response.end(text),
      )
    },
    goDown(isDown: boolean) {
      down = isDown
    },
  }
}

const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits })
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as Record<string, string>

const keyPair = (algorithm: string, bits: number) => {
  if (/^[RP]S/.test(algorithm)) return rsa(bits)
  const curve = curves[algorithm]
  return curve === undefined ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: curve })
}

/** Returns a value as JSON in base64url, as the parts of a JWT are. */
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns the time in seconds since the epoch. */
export const seconds = (): number => Math.floor(Date.now() / 1000)

type Parts = { claims?: Record<string, unknown>; header?: Record<string, unknown> }

/**
 * Creates a signing key: the JWK that an issuer publishes, and `token`, which signs access tokens (RFC 9068). Given
 * claims and headers replace the defaults; undefined removes one.
 */
export function createKey(issuer: string, { algorithm = 'ES256', kid = 'one', bits = 2048 } = {}) {
  const { publicKey, privateKey } = keyPair(algorithm, bits)
  const digest = /^[RPE]S/.test(algorithm) ? `sha${algorithm.slice(2)}` : null
  const signature = (input: string): string =>
    sign(digest, Buffer.from(input), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
      ...(algorithm.startsWith('PS') ? pss : {}),
    }).toString('base64url')
  let made = 0
  return {
    publicKey,
    privateKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid },
    token({ claims = {}, header = {} }: Parts = {}): string {
      const now = seconds()
      const times = { iat: now, exp: now + 600 }
      const names = { iss: issuer, aud: audience, sub: 'subject', client_id: 'gardener', jti: String(made++) }
      const start = encode({ alg: algorithm, typ: 'at+jwt', kid, ...header })
      const input = `${start}.${encode({ ...names, ...times, ...claims })}`
      return `${input}.${signature(input)}`
    },
  }
}
