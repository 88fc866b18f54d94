import { hash } from 'node:crypto'
import { entryRules, parseDateTime, type TokenEntry } from '../auth/token-file.ts'
import { newToken } from '../auth/tokens.ts'
import { parseOptions, UsageError } from './command-options.ts'
import { type LockFileOrFlock, readTokens, updateTokenFile } from './token-file-update.ts'

export { parseOptions, toUsageError, UsageError } from './command-options.ts'

/** Returns the help of the token command; `command` is its name, such as `shop token`. */
export const tokenHelp = (
  command: string,
): string => `${command} create --name NAME [--scope SCOPES] [--expires WHEN] [--note TEXT]
${command} list
${command} rotate --name NAME [--overlap 24h] [--scope SCOPES] [--expires WHEN] [--note TEXT]
${command} revoke --name NAME | --digest DIGITS

A token is printed once, alone on standard output. The token file keeps only its digest. The token
file is --file PATH (default: $TOKENS_FILE or tokens.json).

create    creates the first token of a client
list      lists names, the first 8 digits of digests, dates, scopes and notes
rotate    creates a new token; the previous ones expire after --overlap (default: 24h; 0s: immediately)
revoke    removes all tokens of a client, or the token whose digest begins with DIGITS

SCOPES are the scopes of the token, separated by spaces: 'orders:read orders:write'. By default a new token has none,
and a rotated token keeps those of the previous one.

WHEN is a duration (90d, 12h, 30m, 10s), a date (2030-01-31, in UTC) or a date and time (2030-01-31T12:00:00Z).
By default a new token does not expire, and a rotated token gets the lifetime of the previous one.
`

const changes = { create, rotate, revoke }

/** What a missing file means: only list needs the token file itself. */
const missing = {
  file: 'does not exist; create a token, or set --file or TOKENS_FILE to another file',
  directory: 'its directory does not exist; create the directory',
}

const commandOptions = {
  create: ['name', 'scope', 'expires', 'note', 'file'],
  list: ['file'],
  rotate: ['name', 'overlap', 'scope', 'expires', 'note', 'file'],
  revoke: ['name', 'digest', 'file'],
}

/** What is particular of the service whose tokens the command manages. */
export type TokenCommandOptions = {
  /** The name of the command in its help, such as `shop token`. */
  command: string
  /** The prefix of new tokens. */
  tokenPrefix: string
  /** Locks a file for the command, or leaves that to `flock`, which is the default. */
  lockFile?: LockFileOrFlock
}

/**
 * Runs the token command with its arguments. Resolves with the text for standard output and a message for standard
 * error. Rejects with a UsageError, or with one line that names the file and the problem.
 */
export async function token(
  [command = '', ...args]: string[],
  environment: NodeJS.ProcessEnv,
  options: TokenCommandOptions,
): Promise<{ result: string; message?: string }> {
  const manual = { result: tokenHelp(options.command) }
  if (command === '--help' || command === '-h') return manual
  if (!Object.hasOwn(commandOptions, command)) {
    const problem = command === '' ? 'missing command' : `unknown command '${command}'`
    throw new UsageError(`token: ${problem}; expected ${Object.keys(commandOptions).join(', ')}`)
  }
  const name = command as keyof typeof commandOptions
  const { help, given } = parseOptions(args, commandOptions[name])
  if (help) return manual
  // An empty variable counts as not set.
  const { file = environment.TOKENS_FILE || 'tokens.json' } = given
  const now = Date.now()
  const changed = name === 'list' ? undefined : changes[name](given, now, options.tokenPrefix)
  try {
    if (changed === undefined) return { result: list(await readTokens(file), now) }
    const { result, message } = await updateTokenFile(file, changed, options.lockFile)
    return { result, message: `${file}: ${message}\n` }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${file}: ${code === 'ENOENT' ? missing[name === 'list' ? 'file' : 'directory'] : message}`)
  }
}

/** The given options of a command, by name without dashes. */
export type Given = Partial<Record<string, string>>

/** The result of a command: the new entries, the text for standard output, and a message for standard error. */
export type Change = { entries: TokenEntry[]; result: string; message: string }

/**
 * Creates the first token of a client. Throws a UsageError for invalid options, like all commands here; the returned
 * function throws when the entries do not allow the change.
 */
export function create(given: Given, now: number, tokenPrefix = ''): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return function createIn(entries) {
    if (entries.some((entry) => entry.name === name && isActive(entry, now))) {
      throw new Error(`${name} already has an active token; rotate or revoke it`)
    }
    const { token, entry } = makeToken(tokenPrefix, name, now, { expires, scope, note })
    return { entries: [...entries, entry], result: `${token}\n`, message: `the token of ${name} ${lifetime(entry)}` }
  }
}

/**
 * Creates a new token of a client, lets its active tokens expire after the overlap, and removes its expired ones.
 * Scopes, note and lifetime are those of the latest token unless they are given.
 */
export function rotate(given: Given, now: number, tokenPrefix = ''): (entries: TokenEntry[]) => Change {
  const { name, scope, note } = labels(given)
  const end = now + parseDuration(given.overlap ?? '24h', '--overlap')
  const expires = given.expires === undefined ? undefined : parseExpiry(given.expires, now)
  return function rotateIn(entries) {
    const others = entries.filter((entry) => entry.name !== name)
    const active = entries.filter((entry) => entry.name === name && isActive(entry, now))
    const latest = active.at(-1)
    if (latest === undefined) throw new Error(`${name} has no active token; create one`)
    const { token, entry } = makeToken(tokenPrefix, name, now, {
      expires: expires ?? inheritedExpiry(latest, now),
      scope: scope ?? latest.scope,
      note: note ?? latest.note,
    })
    const expire = (old: TokenEntry) => (isActive(old, end) ? { ...old, expires: dateTime(end) } : old)
    return {
      entries: [...others, ...active.map(expire), entry],
      result: `${token}\n`,
      message: `the new token of ${name} ${lifetime(entry)}; the previous ones expire by ${dateTime(end)}`,
    }
  }
}

/** Removes the tokens of a client, or the token with a digest. */
export function revoke({ name, digest }: Given): (entries: TokenEntry[]) => Change {
  if (name === undefined && digest === undefined) throw new UsageError('specify --name or --digest')
  if (digest !== undefined && !/^[\da-f]{8,64}$/.test(digest)) {
    throw new UsageError('--digest is invalid; expected 8 to 64 hexadecimal digits, as list shows them')
  }
  return function revokeIn(entries) {
    const isKept = (entry: TokenEntry) =>
      (name !== undefined && entry.name !== name) || !entry.sha256.startsWith(digest ?? '')
    const kept = entries.filter(isKept)
    const count = entries.length - kept.length
    if (count === 0) throw new Error('no token matches')
    if (digest !== undefined && count > 1) throw new Error(`${count} tokens match this digest; give more digits`)
    return { entries: kept, result: '', message: `${count} ${count === 1 ? 'token is' : 'tokens are'} revoked` }
  }
}

/** Formats the entries as a table. */
export function list(entries: TokenEntry[], now: number): string {
  const table = [['NAME', 'DIGEST', 'CREATED', 'EXPIRES', 'STATE', 'SCOPE', 'NOTE']]
  for (const entry of entries) {
    const { name, sha256, created, expires = '-', scope = '-', note = '' } = entry
    table.push([name, sha256.slice(0, 8), created, expires, isActive(entry, now) ? 'active' : 'expired', scope, note])
  }
  const width = (column: number) => Math.max(...table.map((row) => (row[column] as string).length))
  const padded = (cell: string, column: number) => cell.padEnd(width(column))
  return table.map((row) => `${row.map(padded).join('  ').trimEnd()}\n`).join('')
}

type Labels = { scope: string | undefined; note: string | undefined }

/** Validates and returns the given name, scopes and note. An error does not show the value, which may be a token. */
function labels({ name, scope, note }: Given): Labels & { name: string } {
  if (name === undefined) throw new UsageError(`--name is missing; expected ${entryRules.name.expected}`)
  for (const [label, text] of Object.entries({ name, scope, note })) {
    const { is, expected } = entryRules[label as keyof typeof entryRules]
    if (text !== undefined && !is(text)) throw new UsageError(`--${label} is invalid; expected ${expected}`)
  }
  return { name, scope, note }
}

function makeToken(
  prefix: string,
  name: string,
  now: number,
  { expires, scope, note }: Labels & { expires: number | undefined },
) {
  const token = newToken(prefix)
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

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as 90d, 24h, 30m or 0s. Returns milliseconds. Throws a UsageError that names the option. */
export function parseDuration(text: string, option: string): number {
  const milliseconds = durationOf(text)
  if (milliseconds === undefined)
    throw new UsageError(`${option} is ${JSON.stringify(text)}; expected a duration such as 24h or 7d`)
  return milliseconds
}

/**
 * Parses the value of --expires: a duration from now, a date (its start in UTC), or a date and time of RFC 3339.
 * Returns milliseconds since 1970. Throws a UsageError for anything else and for a time in the past.
 */
export function parseExpiry(text: string, now: number): number {
  const duration = durationOf(text)
  const time = duration === undefined ? (parseDateTime(`${text}T00:00:00Z`) ?? parseDateTime(text)) : now + duration
  if (time !== undefined && time > now) return time
  throw new UsageError(
    `--expires is ${JSON.stringify(text)}; expected a future time, such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z`,
  )
}

function durationOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (units[unit] as number)
}
