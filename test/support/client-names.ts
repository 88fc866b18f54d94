import type { VerifyToken } from '../../src/auth/tokens.ts'

/** Returns a verifier that tells only the names of clients. */
export function clientNames(verify: VerifyToken) {
  return (token: string, mayCost?: () => boolean): string | undefined | Promise<string | undefined> => {
    const client = verify(token, mayCost)
    return client instanceof Promise ? client.then((found) => found?.name) : client?.name
  }
}
