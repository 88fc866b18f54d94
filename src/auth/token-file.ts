import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { parseJson } from '../json/parse-json.ts'
import { parseDateTime } from './rfc3339.ts'
import { tokenPattern } from './token-format.ts'

/** A token of a client, as the file has it; several of one name are a rotation. Dates are those of RFC 3339. */
export type TokenEntry = { name: string; sha256: string; created: string; expires?: string; note?: string }

type Rule = { is(text: string): boolean; allowed: string; optional?: boolean }

const date = {
  is: (text: string) => parseDateTime(text) !== undefined,
  allowed: 'a date and time such as 2026-01-31T12:00:00Z',
}

/** What the members of an entry may be. */
export const rules: Record<keyof TokenEntry, Rule> = {
  name: { is: (text) => /^[\w.-]{1,64}$/.test(text), allowed: '1 to 64 letters, digits and ._-' },
  sha256: { is: (text) => /^[\da-f]{64}$/.test(text), allowed: '64 hexadecimal digits in lower case' },
  created: date,
  expires: { ...date, optional: true },
  note: {
    is: (text) => /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{0,200}$/u.test(text),
    allowed: 'one line of at most 200 characters',
    optional: true,
  },
}

/** Reads a tokens file; rejects, in one line, when it cannot be read or others than its owner may write it. */
export async function readTokensFile(path: string): Promise<string> {
  // Without O_NONBLOCK, to open a pipe is to wait for who writes it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const status = await file.stat()
    if (!status.isFile()) throw new Error('it is no regular file')
    // What sshd asks of authorized_keys: a digest of a random token is no secret, but who may write makes clients. Whose
    // file it is says little, since containers map the owners.
    const mode = status.mode & 0o777
    if (mode & 0o022) throw new Error(`its mode is ${mode.toString(8)}, allowed: writable by its owner alone`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/**
 * Takes the text of a tokens file; gives its entries. Throws one line with the place of what is wrong and what is
 * allowed there, and nothing of the text itself, which may have a token where it has no place.
 */
export function parseTokens(text: string): TokenEntry[] {
  if (tokenPattern.test(text)) throw new Error('it holds a token, allowed: digests of tokens')
  const { tokens, ...surplus } = toObject(parse(text))
  if (!Array.isArray(tokens) || Object.keys(surplus).length > 0) {
    throw new Error('it is not what it should be, allowed: an object whose one member is the list tokens')
  }
  const places = new Map<string, string>()
  return tokens.map((value, index) => {
    const place = `tokens[${index}]`
    const entry = toEntry(value, place)
    const other = places.get(entry.sha256)
    if (other !== undefined) throw new Error(`${place}.sha256 is that of ${other}, allowed: one entry for each token`)
    places.set(entry.sha256, place)
    return entry
  })
}

function parse(text: string): unknown {
  try {
    return parseJson(text).value
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`)
  }
}

function toEntry(value: unknown, place: string): TokenEntry {
  const entry = toObject(value)
  for (const [name, { is, allowed, optional }] of Object.entries(rules)) {
    const text = entry[name]
    if (text === undefined && optional) continue
    if (text === undefined) throw new Error(`${place}.${name} is missing, allowed: ${allowed}`)
    if (typeof text !== 'string' || !is(text)) throw new Error(`${place}.${name} is wrong, allowed: ${allowed}`)
  }
  if (Object.keys(entry).some((name) => !Object.hasOwn(rules, name))) {
    throw new Error(`${place} has an unknown member, allowed: ${Object.keys(rules).join(', ')}`)
  }
  return entry as TokenEntry
}

/** What is no object has no members, and so not those that it should have. */
const toObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
