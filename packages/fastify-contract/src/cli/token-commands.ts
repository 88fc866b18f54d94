import { hash } from 'node:crypto'
import { parseDateTime } from '../auth/rfc3339.ts'
import { entryRules, type TokenEntry } from '../auth/token-file.ts'
import { newToken } from '../auth/tokens.ts'
import { UsageError } from './cli-options.ts'
import { parseDuration, parseExpiry } from './duration.ts'

/** The given options of a command, by name without dashes. */
export type Given = Partial<Record<string, string>>

/** The result of a command: the new entries, the text for standard output, and a message for standard error. */
export type Change = { entries: TokenEntry[]; result: string; message: string }

/**
 * Creates the first token of a client. Throws a UsageError for invalid options, like all commands here; the returned
 * function throws when the entries do not allow the change.
 */
export function create(given: Given, now: number): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return (entries) => {
    if (entries.some((entry) => entry.name === name && isActive(entry, now))) {
      throw new Error(`${name} already has an active token; rotate or revoke it`)
    }
    const { token, entry } = makeToken(name, now, { expires, scope, note })
    return { entries: [...entries, entry], result: `${token}\n`, message: `the token of ${name} ${lifetime(entry)}` }
  }
}

/**
 * Creates a new token of a client, lets its active tokens expire after the overlap, and removes its expired ones.
 * Scopes, note and lifetime are those of the latest token unless they are given.
 */
export function rotate(given: Given, now: number): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const end = now + parseDuration(given.overlap ?? '24h', '--overlap')
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return (entries) => {
    const others = entries.filter((entry) => entry.name !== name)
    const active = entries.filter((entry) => entry.name === name && isActive(entry, now))
    const latest = active.at(-1)
    if (latest === undefined) throw new Error(`${name} has no active token; create one`)
    const { token, entry } = makeToken(name, now, {
      expires: expires ?? inheritedExpiry(latest, now),
      scope: scope ?? latest.scope,
      note: note ?? latest.note,
    })
    const expiring = active.map((old) => ({
      ...old,
      expires: isActive(old, end) ? dateTime(end) : (old.expires as string),
    }))
    return {
      entries: [...others, ...expiring, entry],
      result: `${token}\n`,
      message: `the new token of ${name} ${lifetime(entry)}; the previous ones expire by ${dateTime(end)}`,
    }
  }
}

/** Removes the tokens of a client, or the token with a digest. */
export function revoke({ name, digest }: Given): (entries: TokenEntry[]) => Change {
  if (name === undefined && digest === undefined) throw new UsageError('--name is missing, allowed: --name or --digest')
  if (digest !== undefined && !/^[\da-f]{8,64}$/.test(digest)) {
    throw new UsageError('--digest is invalid, allowed: 8 to 64 hexadecimal digits, as list shows them')
  }
  return (entries) => {
    const isMatch = (entry: TokenEntry) =>
      (name === undefined || entry.name === name) && entry.sha256.startsWith(digest ?? '')
    const kept = entries.filter((entry) => !isMatch(entry))
    const count = entries.length - kept.length
    if (count === 0) throw new Error('no token matches')
    if (digest !== undefined && count > 1) throw new Error(`${count} tokens match this digest; give more digits`)
    return { entries: kept, result: '', message: `${count} ${count === 1 ? 'token is' : 'tokens are'} revoked` }
  }
}

/** Formats the entries as a table. */
export function list(entries: TokenEntry[], now: number): string {
  const rows = entries.map((entry) => [
    entry.name,
    entry.sha256.slice(0, 8),
    entry.created,
    entry.expires ?? '-',
    isActive(entry, now) ? 'active' : 'expired',
    entry.scope ?? '-',
    entry.note ?? '',
  ])
  const table = [['NAME', 'DIGEST', 'CREATED', 'EXPIRES', 'STATE', 'SCOPE', 'NOTE'], ...rows]
  const width = (column: number) => Math.max(...table.map((row) => (row[column] as string).length))
  return table
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(width(column)))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

type Labels = { scope: string | undefined; note: string | undefined }

/** Validates and returns the given name, scopes and note. An error does not show the value, which may be a token. */
function labels({ name, scope, note }: Given): Labels & { name: string } {
  if (name === undefined) throw new UsageError(`--name is missing, allowed: ${entryRules.name.allowed}`)
  for (const [label, text] of Object.entries({ name, scope, note })) {
    const { is, allowed } = entryRules[label as keyof typeof entryRules]
    if (text !== undefined && !is(text)) throw new UsageError(`--${label} is invalid, allowed: ${allowed}`)
  }
  return { name, scope, note }
}

function makeToken(name: string, now: number, { expires, scope, note }: Labels & { expires: number | undefined }) {
  const token = newToken()
  const entry: TokenEntry = {
    name,
    sha256: hash('sha256', token),
    created: dateTime(now),
    ...(expires === undefined ? {} : { expires: dateTime(expires) }),
    ...(scope === undefined ? {} : { scope }),
    ...(note === undefined ? {} : { note }),
  }
  return { token, entry }
}

const lifetime = ({ expires }: TokenEntry) => (expires === undefined ? 'does not expire' : `expires ${expires}`)

/** Returns the expiry of a token created now with the lifetime of the given one, in milliseconds since 1970. */
const inheritedExpiry = ({ created, expires }: TokenEntry, now: number) =>
  expires === undefined ? undefined : now + timeOf(expires) - timeOf(created)

const isActive = ({ expires }: TokenEntry, now: number) => expires === undefined || now < timeOf(expires)

/** Parses a date of a valid entry to milliseconds since 1970. */
const timeOf = (text: string) => parseDateTime(text) as number

/** Formats a time in whole seconds, which is precise enough. */
const dateTime = (time: number) => new Date(time).toISOString().replace(/\.\d+/, '')
