import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '../http/authenticated-client.ts'
import { digestLookup } from './token-digests.ts'
import { readTokenFile } from './token-file.ts'
import { isMistyped } from './token-format.ts'
import { indexTokens, isValid, type TokenIndex } from './token-index.ts'

/** Milliseconds between two reads of the file. */
const interval = 500

/** Bytes above which a file is reported as large: at about 70,000 tokens, each change takes most of a second. */
const largeSize = 2 ** 24

export type TokenFileWatcher = {
  /** Returns the client of a token, or undefined when the token is unknown, expired or revoked. */
  verify(token: string): Client | undefined
  close(): void
}

/**
 * Watches a token file: a change takes effect within one second. Rejects with one line, which contains no token, when
 * the file is unusable at the start. When it becomes unusable later, its last valid content stays in effect. Calls
 * `on.load` after each change with the number of clients that have a token which has not expired, `on.error` once for
 * each new problem, and `on.large` with the size in bytes when the file becomes large.
 */
export async function watchTokenFile(
  path: string,
  on: { load(clients: number): void; error(error: Error): void; large?(bytes: number): void },
): Promise<TokenFileWatcher> {
  /** The content that was read last, valid or not; undefined when it could not be read. */
  let seen: Buffer | undefined
  let accepted: TokenIndex = new Map()
  let problem: string | undefined
  let isLarge = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const size = (bytes: number) => {
    if (bytes > largeSize && !isLarge && !closed) on.large?.(bytes)
    isLarge = bytes > largeSize
  }

  // The file is read each time, because stat misses changes: a replaced link or mount, a change within one tick of the
  // file system's clock, or a change that a network file system still caches. File system events miss even more.
  const load = async () => {
    const before = seen
    seen = undefined
    seen = await readTokenFile(path, { size })
    if (before?.equals(seen)) return
    const text = seen.toString()
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

  const find = digestLookup((digest) => {
    const found = accepted.get(digest)
    return found !== undefined && isValid(found) ? found.client : undefined
  })
  await load()
  timer = setTimeout(poll, interval).unref()
  return {
    verify: (token) => (isMistyped(token) ? undefined : find(token)),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
