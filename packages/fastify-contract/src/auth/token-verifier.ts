import { stat } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '../http/request-context.ts'
import type { JwtOptions } from './jwt.ts'
import { parseDateTime, readTokenFile, type TokenEntry, tokenEntries } from './token-file.ts'
import { digestLookup, listVerifier, scopesIn, type VerifyToken } from './tokens.ts'

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

const reasons: Record<string, string> = {
  ENOENT: 'the file does not exist; create it with a first token, or name another file',
  EACCES: 'this user may not read the file; give it read permission, or name another file',
}

/** Creates a verifier for the tokens of all sources. Rejects with one line when the token file cannot be used. */
export async function createTokenVerifier(
  { tokens, scopes, tokensFile, jwt }: TokenSources,
  on: WatchCallbacks,
): Promise<TokenVerifier> {
  const verifiers: VerifyToken[] = tokens.length === 0 ? [] : [listVerifier(tokens, scopes)]
  const file =
    tokensFile === undefined
      ? undefined
      : await watchTokenFile(tokensFile, on).catch(({ code, message }: NodeJS.ErrnoException) => {
          throw new Error(`TOKENS_FILE is ${JSON.stringify(tokensFile)}: ${reasons[code as string] ?? message}`)
        })
  if (file !== undefined) verifiers.push(file.verify)
  // The JWT verifier is the last one, because it may return a promise, which ends the search.
  if (jwt !== undefined) verifiers.push((await import('./jwt.ts')).jwtVerifier(jwt))
  return {
    verify(token, withinFailureLimit) {
      for (const verify of verifiers) {
        const client = verify(token, withinFailureLimit)
        if (client !== undefined) return client
      }
      return undefined
    },
    close: () => file?.close(),
  }
}

/** Milliseconds between two looks at the file. */
const interval = 1_000

/** Every this many looks the file is read even if its status is the same: a network file system may cache the status. */
const rereadAfter = 10

/** A change within this many milliseconds of an earlier one may leave the status as it is: file systems have coarse clocks. */
const clockTick = 2_000

/** Bytes above which a file is reported as large: at about 70,000 tokens, each change takes most of a second. */
const largeSize = 2 ** 24

/**
 * Watches a token file: a change takes effect within about one second, or ten on a file system that caches the status of
 * files. Rejects with one line, which contains no token, when the file is unusable at the start. When it becomes unusable
 * later, its last valid content stays in effect. Calls `on.load` after each change with the number of clients that have a
 * token which has not expired, `on.error` once for each new problem, and `on.large` with the size in bytes when the file
 * becomes large.
 */
export async function watchTokenFile(
  path: string,
  on: WatchCallbacks,
): Promise<{ verify(token: string): Client | undefined; close(): void }> {
  /** The content that was read last, valid or not; undefined when it could not be read. */
  let seen: Buffer | undefined
  let accepted: TokenIndex = new Map()
  let problem: string | undefined
  let isLarge = false
  let timer: NodeJS.Timeout | undefined
  let closed = false
  /** The status of the file at the last read; undefined if the next look must read it. */
  let seenStatus: string | undefined
  let looks = 0

  const noteSize = (bytes: number) => {
    if (bytes > largeSize && !isLarge && !closed) on.large?.(bytes)
    isLarge = bytes > largeSize
  }

  // Mostly one call of a thread, where a read takes six: each wakes an idle process. File system events miss changes.
  const load = async () => {
    const [before, statusBefore] = [seen, seenStatus]
    seen = seenStatus = undefined
    const status = await settledStatus(path)
    const isSame = status !== undefined && status === statusBefore && ++looks % rereadAfter !== 0
    seen = isSame ? before : await readTokenFile(path, { size: noteSize })
    if (seen !== undefined && !before?.equals(seen)) await use(seen.toString())
    seenStatus = status
  }

  const use = async (text: string) => {
    // Decoding a large file takes milliseconds, and so do the slices that follow.
    await nextTurn()
    const { tokens, clients } = await indexTokens(text)
    if (closed) return
    accepted = tokens
    problem = undefined
    on.load(clients)
  }

  const poll = async () => {
    try {
      await load()
    } catch (error) {
      const { message } = error as Error
      if (!closed && message !== problem) {
        problem = message
        on.error(error as Error)
      }
    }
    if (!closed) timer = setTimeout(poll, interval).unref()
  }

  const find = digestLookup(function clientOfDigest(digest) {
    const found = accepted.get(digest)
    return found !== undefined && isUnexpired(found) ? found.client : undefined
  })
  await load()
  timer = setTimeout(poll, interval).unref()
  return {
    verify: find,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/**
 * Returns a text that differs after each change of a file; undefined as long as a further change might leave it the same.
 * It is read before the content, so a change in between differs from it at the next look.
 */
async function settledStatus(path: string): Promise<string | undefined> {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  // A user can set mtime, but not ctime.
  return ctimeNs / 1_000_000n > Date.now() - clockTick ? undefined : [dev, ino, mode, size, mtimeNs, ctimeNs].join()
}

/** The number of entries that are read before yielding to the event loop: about 3 ms of work. */
const sliceSize = 500

/** The client of each token and its expiry in milliseconds since 1970, by the SHA-256 digest of the token. */
export type TokenIndex = Map<string, { client: Client; expires: number }>

/**
 * Parses the text of a token file in slices, and yields to the event loop between them. Resolves with the tokens and
 * the number of clients that have a token which has not expired. Rejects as `tokenEntries` throws.
 */
export async function indexTokens(text: string): Promise<{ tokens: TokenIndex; clients: number }> {
  const tokens: TokenIndex = new Map()
  const clients = new Set<string>()
  const scopesOf = sharedScopes()
  for (const { name, sha256, expires, scope } of tokenEntries(text)) {
    const found = { client: { name, scopes: scopesOf(scope) }, expires: timeOf(expires) }
    tokens.set(sha256, found)
    if (isUnexpired(found)) clients.add(found.client.name)
    if (tokens.size % sliceSize === 0) await nextTurn()
  }
  return { tokens, clients: clients.size }
}

/** Returns a function that splits scopes. Entries with the same text share one list, to save memory. */
function sharedScopes(): (scope: TokenEntry['scope']) => readonly string[] {
  const lists = new Map<string, readonly string[]>()
  return (scope = '') => {
    const list = lists.get(scope) ?? scopesIn(scope)
    lists.set(scope, list)
    return list
  }
}

const timeOf = (expires: TokenEntry['expires']): number =>
  expires === undefined ? Number.POSITIVE_INFINITY : (parseDateTime(expires) as number)

/** Returns whether a token has not expired. */
const isUnexpired = ({ expires }: { expires: number }): boolean => Date.now() < expires
