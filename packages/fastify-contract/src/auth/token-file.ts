import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { listItems } from '../json/list-items.ts'
import { containsToken, isScope } from './tokens.ts'

/**
 * An entry of a token file: a token of a client. During a rotation a client has several. Dates are those of RFC 3339,
 * and scopes are separated by spaces (RFC 6749 section 3.3).
 */
export type TokenEntry = {
  name: string
  sha256: string
  created: string
  expires?: string
  scope?: string
  note?: string
}

type Rule = { is(text: string): boolean; expected: string; optional?: boolean }

const date = {
  is: (text: string) => parseDateTime(text) !== undefined,
  expected: 'a date and time such as 2026-01-31T12:00:00Z',
}

/** The rules for the members of an entry. */
export const entryRules: Record<keyof TokenEntry, Rule> = {
  name: { is: (text) => /^[\w.-]{1,64}$/.test(text), expected: '1 to 64 letters, digits and ._-' },
  sha256: { is: (text) => /^[\da-f]{64}$/.test(text), expected: '64 hexadecimal digits in lower case' },
  created: date,
  expires: { ...date, optional: true },
  scope: {
    is: (text) => text.length <= 1_000 && text.split(' ').every(isScope),
    expected: 'scopes with one space between them, at most 1000 characters',
    optional: true,
  },
  note: {
    is: (text) => /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{0,200}$/u.test(text),
    expected: 'one line of at most 200 characters',
    optional: true,
  },
}

/**
 * Reads a token file. Rejects with one line when the file cannot be read, is not a regular file, or is writable by
 * users other than its owner. Calls `on.size` with the size in bytes before it reads.
 */
export async function readTokenFile(path: string, on: { size?(bytes: number): void } = {}): Promise<Buffer> {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const status = await file.stat()
    if (!status.isFile()) throw new Error('not a regular file')
    // The rule of sshd for authorized_keys: the digest of a random token is not secret, but every user who can write
    // the file can create tokens. The owner is not checked, since containers map user ids.
    const mode = status.mode & 0o777
    if (mode & 0o022) {
      throw new Error(`writable by users other than its owner (mode ${mode.toString(8)}); run chmod go-w on it`)
    }
    on.size?.(status.size)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Parses the text of a token file. Throws as `tokenEntries` does. */
export const parseTokenFile = (text: string): TokenEntry[] => Array.from(tokenEntries(text))

/**
 * Parses the text of a token file entry by entry, so that a caller can yield to the event loop between them. Throws one
 * line that names the invalid member and what is expected there. The message quotes nothing of the text, which may
 * contain a token in the wrong member.
 */
export function* tokenEntries(text: string): Generator<TokenEntry> {
  if (containsToken(text)) throw new Error('contains a token; expected the SHA-256 digests of tokens')
  const indexes = new Map<string, number>()
  for (const value of items(text)) {
    const entry = toEntry(value, indexes.size)
    const other = indexes.get(entry.sha256)
    if (other !== undefined) {
      throw new Error(
        `tokens[${indexes.size}].sha256 is the same as in tokens[${other}]; expected one entry for each token`,
      )
    }
    indexes.set(entry.sha256, indexes.size)
    yield entry
  }
}

/** Yields the items of the array `tokens`, the only member of the file. */
function* items(text: string): Generator<unknown> {
  const list = listItems(text, 'tokens')
  for (;;) {
    const { done, value } = next(list)
    if (done && value === true) return
    if (done) throw new Error('wrong structure; expected an object whose only member is an array "tokens"')
    yield value
  }
}

function next(list: Generator<unknown, boolean>): IteratorResult<unknown, boolean> {
  try {
    return list.next()
  } catch (error) {
    throw new Error(`not valid JSON: ${(error as Error).message}`)
  }
}

const members = Object.entries(entryRules)

function toEntry(value: unknown, index: number): TokenEntry {
  const entry = toObject(value)
  for (const [name, { is, expected, optional }] of members) {
    const text = entry[name]
    if (text === undefined && optional) continue
    if (text === undefined) throw new Error(`tokens[${index}].${name} is missing; expected ${expected}`)
    if (typeof text !== 'string' || !is(text)) {
      throw new Error(`tokens[${index}].${name} is invalid; expected ${expected}`)
    }
  }
  for (const name in entry) {
    if (Object.hasOwn(entryRules, name)) continue
    throw new Error(`tokens[${index}] has an unknown member; expected ${Object.keys(entryRules).join(', ')}`)
  }
  return entry as TokenEntry
}

/** Returns an object, or an empty one for another value, so that its members are reported as missing. */
const toObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const dateTime = /^(\d{4}-\d\d-(\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Parses a date and time of RFC 3339 section 5.6, with T and Z in upper case. Returns milliseconds since 1970, or
 * undefined for any other text, a day that does not exist, or a leap second.
 */
export function parseDateTime(text: string): number | undefined {
  const [, local = '', day = ''] = dateTime.exec(text) ?? []
  const time = local === '' ? Number.NaN : Date.parse(text)
  if (Number.isNaN(time)) return undefined
  // Date.parse reads 30 February as 2 March. Days up to 28 skip the second, slower check: a token file has up to two
  // dates for each entry.
  if (day <= '28') return time
  return new Date(`${local}Z`).toISOString().startsWith(local) ? time : undefined
}
