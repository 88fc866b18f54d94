import type { VerifyToken } from 'fastify-contract'

/** Returns a verifier that resolves with the client's name only. */
export function clientNames(verify: VerifyToken) {
  return (token: string, withinFailureLimit?: () => boolean): string | undefined | Promise<string | undefined> => {
    const client = verify(token, withinFailureLimit)
    return client instanceof Promise ? client.then((found) => found?.name) : client?.name
  }
}
