import { hash } from 'node:crypto'
import { parseDateTime } from '../auth/rfc3339.ts'
import { rules, type TokenEntry } from '../auth/token-file.ts'
import { newToken } from '../auth/tokens.ts'
import { UsageError } from './cli-options.ts'
import { parseDuration, parseExpiry } from './duration.ts'

/** The options of a command that were given, without their dashes. */
export type Given = Partial<Record<string, string>>

/** What a command makes of the entries, its result, and words for people beside it. */
export type Change = { entries: TokenEntry[]; result: string; words: string }

/** Makes the first token of a client. Like all of these it throws a UsageError first, and then what the file tells. */
export function create(given: Given, now: number): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return (entries) => {
    if (entries.some((entry) => entry.name === name && isActive(entry, now))) {
      throw new Error(`${name} has a token, which can be rotated or revoked`)
    }
    const { token, entry } = make(name, now, { expires, scope, note })
    return { entries: [...entries, entry], result: `${token}\n`, words: `the token of ${name} ${lifetime(entry)}` }
  }
}

/**
 * Makes a further token of a client, has the active ones expire and forgets the others. What is not given is as with
 * the latest: the new one has its scopes and its note, and lives as long as that was made for.
 */
export function rotate(given: Given, now: number): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const end = now + parseDuration(given.overlap ?? '24h', '--overlap')
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return (entries) => {
    const others = entries.filter((entry) => entry.name !== name)
    const active = entries.filter((entry) => entry.name === name && isActive(entry, now))
    const latest = active.at(-1)
    if (latest === undefined) throw new Error(`${name} has no token that could be rotated`)
    const { token, entry } = make(name, now, {
      expires: expires ?? sameLife(latest, now),
      scope: scope ?? latest.scope,
      note: note ?? latest.note,
    })
    const ending = active.map((old) => ({
      ...old,
      expires: isActive(old, end) ? dateTime(end) : (old.expires as string),
    }))
    return {
      entries: [...others, ...ending, entry],
      result: `${token}\n`,
      words: `the new token of ${name} ${lifetime(entry)}, those before it expire by ${dateTime(end)}`,
    }
  }
}

/** Removes the tokens of a client, or the one of a digest. */
export function revoke({ name, digest }: Given): (entries: TokenEntry[]) => Change {
  if (name === undefined && digest === undefined) throw new UsageError('--name is missing, allowed: --name or --digest')
  if (digest !== undefined && !/^[\da-f]{8,64}$/.test(digest)) {
    throw new UsageError('--digest is wrong, allowed: 8 to 64 hexadecimal digits, as list shows them')
  }
  return (entries) => {
    const isMeant = (entry: TokenEntry) =>
      (name === undefined || entry.name === name) && entry.sha256.startsWith(digest ?? '')
    const kept = entries.filter((entry) => !isMeant(entry))
    const count = entries.length - kept.length
    if (count === 0) throw new Error('there is no such token')
    if (digest !== undefined && count > 1) throw new Error(`${count} tokens have this digest`)
    return { entries: kept, result: '', words: `${count} ${count === 1 ? 'token is' : 'tokens are'} revoked` }
  }
}

/** Returns a table of the entries. */
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

/**
 * Returns the name, the scopes and the note that were given; none is shown when it is wrong, since it may be a token.
 */
function labels({ name, scope, note }: Given): Labels & { name: string } {
  if (name === undefined) throw new UsageError(`--name is missing, allowed: ${rules.name.allowed}`)
  for (const [label, text] of Object.entries({ name, scope, note })) {
    const { is, allowed } = rules[label as keyof typeof rules]
    if (text !== undefined && !is(text)) throw new UsageError(`--${label} is wrong, allowed: ${allowed}`)
  }
  return { name, scope, note }
}

function make(name: string, now: number, { expires, scope, note }: Labels & { expires: number | undefined }) {
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

/** When a token that is made now expires, to live as long as the given one was made for. */
const sameLife = ({ created, expires }: TokenEntry, now: number) =>
  expires === undefined ? undefined : now + timeOf(expires) - timeOf(created)

const isActive = ({ expires }: TokenEntry, now: number) => expires === undefined || now < timeOf(expires)

/** Of a text that the file's rules allow. */
const timeOf = (text: string) => parseDateTime(text) as number

/** In whole seconds: nobody reads more. */
const dateTime = (time: number) => new Date(time).toISOString().replace(/\.\d+/, '')
