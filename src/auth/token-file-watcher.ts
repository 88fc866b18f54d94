import { hash } from 'node:crypto'
import type { Client } from '../http/authenticated-client.ts'
import { parseDateTime } from './rfc3339.ts'
import { parseTokens, readTokensFile, type TokenEntry } from './token-file.ts'
import { isMistyped } from './token-format.ts'

/** Milliseconds between two looks at the file. */
const interval = 500

export type FollowedTokens = {
  /** Returns the client of a token, undefined for one that is unknown, expired or revoked. */
  verify(token: string): Client | undefined
  close(): void
}

/**
 * Follows a tokens file: a change of it counts within a second. Rejects, in one line without any token, when the file
 * cannot be used now; later the last good one is kept. `on.load` is told, each time, how many clients have a token that
 * is not expired; `on.error` once for each thing that is wrong.
 */
export async function followTokens(
  path: string,
  on: { load(clients: number): void; error(error: Error): void },
): Promise<FollowedTokens> {
  let text = ''
  let accepted: Accepted = new Map()
  let problem: string | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const load = (read: string) => {
    accepted = acceptedOf(parseTokens(read))
    text = read
    problem = undefined
    on.load(
      new Set(
        Array.from(accepted.values())
          .filter(isValid)
          .map(({ client }) => client.name),
      ).size,
    )
  }

  // It is read each time, not only when stat tells of a change: a replaced link or mount, a change within one tick of the
  // file system's clock, or one that a network file system still hides from stat, is none to stat. Events tell less.
  const look = async () => {
    try {
      const read = await readTokensFile(path)
      if (!closed && (read !== text || problem !== undefined)) load(read)
    } catch (error) {
      const { message } = error as Error
      if (!closed && message !== problem) {
        problem = message
        on.error(error as Error)
      }
    }
    if (!closed) timer = setTimeout(look, interval).unref()
  }

  load(await readTokensFile(path))
  timer = setTimeout(look, interval).unref()
  return {
    verify(token) {
      if (isMistyped(token)) return undefined
      // It need not take constant time: nobody can choose a token by its digest, so to learn of digests is of no use.
      const found = accepted.get(hash('sha256', token))
      return found !== undefined && isValid(found) ? found.client : undefined
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** By the digest of its token, a client and when that expires, in milliseconds since 1970. */
type Accepted = Map<string, { client: Client; expires: number }>

const acceptedOf = (entries: TokenEntry[]): Accepted =>
  new Map(
    entries.map(({ name, sha256, expires }) => [
      sha256,
      {
        client: { name, scopes: [] },
        expires: expires === undefined ? Number.POSITIVE_INFINITY : (parseDateTime(expires) as number),
      },
    ]),
  )

const isValid = ({ expires }: { expires: number }): boolean => Date.now() < expires
