import type { JwtOptions } from './jwt.ts'
import { listVerifier, type VerifyToken } from './tokens.ts'

export type TokenVerifier = {
  verify: VerifyToken
  close(): void
}

/** The sources of accepted tokens: a list of tokens with the same scopes, a token file, and an issuer of JWTs. */
export type TokenSources = {
  tokens: string[]
  scopes?: readonly string[]
  tokensFile: string | undefined
  jwt: JwtOptions | undefined
}

/** The callbacks of `watchTokenFile`. */
type WatchCallbacks = { load(clients: number): void; error(error: Error): void; large?(bytes: number): void }

/** Creates a verifier for the tokens of all sources. Rejects with one line when the token file cannot be used. */
export async function createTokenVerifier(
  { tokens, scopes, tokensFile, jwt }: TokenSources,
  on: WatchCallbacks,
): Promise<TokenVerifier> {
  const verifiers: VerifyToken[] = tokens.length === 0 ? [] : [listVerifier(tokens, scopes)]
  const file = tokensFile === undefined ? undefined : await watch(tokensFile, on)
  if (file !== undefined) verifiers.push(file.verify)
  // The JWT verifier is the last one, because only it may have to wait.
  if (jwt !== undefined) verifiers.push((await import('./jwt.ts')).jwtVerifier(jwt))
  return {
    verify(token, mayCost) {
      for (const verify of verifiers) {
        const client = verify(token, mayCost)
        if (client !== undefined) return client
      }
      return undefined
    },
    close: () => file?.close(),
  }
}

async function watch(path: string, on: WatchCallbacks) {
  const { watchTokenFile } = await import('./token-file-watcher.ts')
  return await watchTokenFile(path, on).catch((error: Error) => {
    throw new Error(`TOKENS_FILE is ${JSON.stringify(path)}: ${error.message}`)
  })
}
