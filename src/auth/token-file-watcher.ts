import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from '../http/authenticated-client.ts'
import { type Accepted, isValid, readAccepted } from './accepted-tokens.ts'
import { digestLookup } from './token-digests.ts'
import { readTokensFile } from './token-file.ts'
import { isMistyped } from './token-format.ts'

/** Milliseconds between two looks at the file. */
const interval = 500

/** A larger file, in bytes, gets a warning: it has some 70,000 tokens, and each change takes a second of CPU. */
const largeSize = 2 ** 24

export type FollowedTokens = {
  /** Returns the client of a token, undefined for one that is unknown, expired or revoked. */
  verify(token: string): Client | undefined
  close(): void
}

/**
 * Follows a tokens file: a change of it counts within a second. Rejects, in one line without any token, when the file
 * cannot be used now; later the last good one is kept. `on.load` is told, each time, how many clients have a token that
 * is not expired; `on.error` once for each thing that is wrong; `on.large` the size of a file that has become large.
 */
export async function followTokens(
  path: string,
  on: { load(clients: number): void; error(error: Error): void; large?(bytes: number): void },
): Promise<FollowedTokens> {
  /** What was read last, whether it could be used or not; undefined when it could not be read. */
  let seen: Buffer | undefined
  let accepted: Accepted = new Map()
  let problem: string | undefined
  let isLarge = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const size = (bytes: number) => {
    if (bytes > largeSize && !isLarge && !closed) on.large?.(bytes)
    isLarge = bytes > largeSize
  }

  // It is read each time, not only when stat tells of a change: a replaced link or mount, a change within one tick of the
  // file system's clock, or one that a network file system still hides from stat, is none to stat. Events tell less.
  const load = async () => {
    const before = seen
    seen = undefined
    seen = await readTokensFile(path, { size })
    if (before?.equals(seen)) return
    const text = seen.toString()
    await turn()
    const { tokens, clients } = await readAccepted(text)
    if (closed) return
    accepted = tokens
    problem = undefined
    on.load(clients)
  }

  const look = async () => {
    try {
      await load()
    } catch (error) {
      const { message } = error as Error
      if (!closed && message !== problem) {
        problem = message
        on.error(error as Error)
      }
    }
    if (!closed) timer = setTimeout(look, interval).unref()
  }

  const find = digestLookup((digest) => {
    const found = accepted.get(digest)
    return found !== undefined && isValid(found) ? found.client : undefined
  })
  await load()
  timer = setTimeout(look, interval).unref()
  return {
    verify: (token) => (isMistyped(token) ? undefined : find(token)),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
